// The whole server without threads, sockets or a disk: operations, HTTP face, services and memory
// store, driven request by request. Contract cases and the authorisation matrix run against it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "api/http/http_face.h"
#include "api/operation.h"
#include "net/http_message.h"
#include "services/metrics.h"
#include "services/principal_service.h"
#include "testing/plane_world.h"

namespace interlock {

class ApiWorld {
public:
    explicit ApiWorld(PlaneConfig config = {.two_person_rule = false, .has_sink = true});

    // Everything in memory is made anew over the same store, flag and sink.
    void restart();

    // Who a request comes from. Credentials are made through the API when the world is built:
    //   agent, planner, reader, foreign_agent, revoked_agent, human, second_human, foreign_human,
    //   operator, bad_key, nobody.
    struct Sent {
        std::string as = "nobody";
        std::string method = "GET";
        std::string path;
        std::string body = {};
        std::vector<HttpHeader> headers = {};
    };
    // The response; CHECKs that there was exactly one. Requests that wait for an effect answer
    // after run_effects(), through `last_response`.
    HttpResponse send(const Sent& request);
    Json send_json(const Sent& request);
    std::shared_ptr<std::optional<HttpResponse>> send_later(const Sent& request);

    const OperationTable& table() const { return *table_; }
    PlaneWorld& plane_world() { return *world_; }
    static std::vector<std::string> principals();

private:
    void build();
    void populate();
    void add_credential(HttpRequest& request, const std::string& as) const;
    std::string invite_and_activate(
        const std::string& tenant, const std::string& email, bool first);

    std::unique_ptr<PlaneWorld> world_;
    std::unique_ptr<WorkerPool> workers_;
    std::unique_ptr<Metrics> metrics_;
    std::unique_ptr<PrincipalService> principals_;
    std::unique_ptr<OperationTable> table_;
    std::unique_ptr<HttpFace> face_;
    std::map<std::string, std::string> credentials_;  // Name → bearer token.
};

}  // namespace interlock
