// Owners, their agents and their bots against the whole API (docs/contracts/bot.md): people who
// signed up, on a paper venue of nine symbols, with their calls at both base patterns.
#pragma once

#include <string>
#include <vector>

#include "api_world.h"

namespace interlock {

class BotApi {
public:
    BotApi();

    struct Owner {
        std::string tenant;
        std::string key;
        std::string key_id;
        std::string human;  // What ApiWorld::Sent::as takes.
        std::string email;
    };
    // Signed up and activated by the link of the letter.
    Owner sign_up(const std::string& name);
    // A new session of the owner.
    void log_in(const Owner& owner);
    // With a bot in this state: uninitialized, ready, running or stopped. Uninitialized has keys.
    Owner sign_up_in(const std::string& name, const std::string& state);

    struct Call {
        std::string method = "GET";
        std::string path;  // As the document writes it: "/status".
        std::string body = {};
    };
    HttpResponse at_tenant(const Owner& owner, const Call& call);  // /api/{tenant_id}, X-Access-Key
    HttpResponse at_key(const Owner& owner, const Call& call);     // /{access_key}
    HttpResponse as_human(const Owner& owner, const Call& call);
    HttpResponse at_host(const Call& call);  // Platform level, without a credential.

    // The document as the server tells it.
    Json document();
    // Its endpoints in order, each with its `group`.
    static std::vector<Json> endpoints_of(const Json& document);

    static std::string word(const HttpResponse& response, std::string_view key);
    static std::string error_code(const HttpResponse& response);
    static Json body_of(const HttpResponse& response);
    static std::string word_at(const Json& json, std::string_view key);

    ApiWorld world;
};

}  // namespace interlock
