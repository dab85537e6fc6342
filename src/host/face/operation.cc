#include "host/face/operation.h"

#include "base/check.h"

namespace interlock {

ApiReply json_reply(int status, const Json& json) {
    ApiReply reply;
    reply.status = status;
    reply.body = to_text(json);
    return reply;
}

void charge_records(const ApiCall& call, std::int64_t records) {
    if (call.charge != nullptr) {
        (*call.charge)(call.principal, records);
    }
}

void OperationTable::add(Operation operation) {
    for (const Operation& known : operations_) {
        CHECK(known.id != operation.id);
        CHECK(tool_name(known) != tool_name(operation));
        CHECK(known.method != operation.method || known.path != operation.path);
    }
    operations_.push_back(std::move(operation));
}

const Operation* OperationTable::find(std::string_view id) const {
    for (const Operation& operation : operations_) {
        if (operation.id == id) {
            return &operation;
        }
    }
    return nullptr;
}

const Operation* OperationTable::find_tool(std::string_view name) const {
    for (const Operation& operation : operations_) {
        if (operation.tool && (operation.id == name || operation.tool->name == name)) {
            return &operation;
        }
    }
    return nullptr;
}

std::string tool_name(const Operation& operation) {
    const bool is_own = operation.tool && !operation.tool->name.empty();
    return is_own ? operation.tool->name : operation.id;
}

}  // namespace interlock
