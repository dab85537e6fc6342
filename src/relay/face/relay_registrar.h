// How the relay's operations are put into the table: what they share, and how their arguments are
// read. For relay_operations.cc and relay_admin_operations.cc alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codec/field_reader.h"
#include "host/face/operation.h"
#include "relay/service/relay_plane.h"

namespace interlock {

// Reads what was sent and asks the relay; an error is about the request.
using RelayAsk = std::function<Result<void>(const ApiCall&, const RelayReply&)>;

struct RelayEntry {
    const char* id;
    const char* method;
    const char* path;
    const char* summary;
    const char* description;
    std::vector<QueryParameter> query = {};
    Json request = {};
    Json answer = {};
    int status = 200;
};

class RelayRegistrar {
public:
    RelayRegistrar(OperationTable& table, RelayPlane& plane) : table_(table), plane_(plane) {}

    void add(RelayEntry entry, RelayAsk ask);

private:
    OperationTable& table_;
    RelayPlane& plane_;
};

void add_relay_admin_operations(RelayRegistrar& to, RelayPlane& plane);

// Empty when it was not given.
std::string query_text(const ApiCall& call, const std::string& name);
Result<std::string> needed_query(const ApiCall& call, const std::string& name);
Result<TenantId> query_tenant(const ApiCall& call);
QueryParameter text_query(const char* name, const char* description);
QueryParameter tenant_query();

std::string needed_id(FieldReader& in, std::string_view key);
std::string optional_id(FieldReader& in, std::string_view key);

// Refuses a body that has other members than those that were read.
template <class T>
Result<T> finish(FieldReader& in, T value) {
    in.reject_unknown();
    return in.finish(std::move(value));
}

}  // namespace interlock
