// The operations of the server as the command line knows them (docs/adr/0031): read from the list
// that the program carries, operations.json, which a check holds to the operation table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/face/page_files.h"
#include "base/json.h"
#include "base/result.h"

namespace interlock {

// operations.json as the program carries it; the build writes the definition.
std::span<const EmbeddedFile> call_files();

// A parameter of the path or the query, or a member of the body.
struct CallField {
    enum class Place { path, query, body };
    enum class Kind { text, number, integer, flag, list, object };
    std::string name;
    Place place = Place::body;
    Kind kind = Kind::text;
    bool has_object_items = false;        // Of a list.
    std::vector<std::string> words = {};  // The values allowed, when they are a fixed set.
    std::string help = {};
    bool is_required = false;

    std::string flag() const;  // "cancel_orders" → "--cancel-orders"
};

struct TableCall {
    std::string id;
    std::string method;
    std::string path;
    std::string summary;
    std::string description;
    bool by_operator = false;
    bool by_human = false;
    bool by_agent = false;
    std::vector<CallField> fields = {};  // Without the tenant of the path.

    bool is_of_tenant() const { return path.contains("{tenant_id}"); }
    bool has_body() const { return method == "POST" || method == "PUT"; }
    const CallField* find(std::string_view field) const;
};

// In the order of the table.
const std::vector<TableCall>& table_calls();
const TableCall* find_table_call(std::string_view id);

// What was typed as the field's value. A list is "a,b" or typed several times, an object is JSON,
// "@file" or "BTCUSDT=0.1,ETHUSDT=2"; of such pairs true, false and null are JSON's own.
Result<Json> typed_value(const CallField& field, const std::vector<std::string>& typed);

// Secrets, which other users of the machine would see, and the key, which is made.
bool is_never_typed(std::string_view field);

// What it is called: "suppress_alert" → "alert suppress", "get_limits" → "limit show". Empty: it is
// no command, because anyone may call it without one, or because it takes a secret.
std::string command_of(const TableCall& call);

}  // namespace interlock
