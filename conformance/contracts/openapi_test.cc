// The served OpenAPI document and the documents under docs/contracts are held to the operations.
#include <gtest/gtest.h>
#include <algorithm>
#include <array>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "api_world.h"
#include "base/text.h"

namespace interlock {
namespace {

std::string read_file(const std::string& path) {
    std::ifstream in(std::string(INTERLOCK_SOURCE_DIR) + "/" + path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

TEST(OpenApi, DescribesExactlyTheOperationsThatAreRouted) {
    ApiWorld world;
    const Json document = world.send_json({.path = "/openapi.json"});
    std::set<std::string> described;
    for (const auto& [path, methods] : document.find("paths")->members()) {
        for (const auto& [method, operation] : methods.members()) {
            described.insert(method + " " + path);
            EXPECT_TRUE(operation.find("operationId")->is_string());
            EXPECT_FALSE(operation.find("responses")->members().empty());
        }
    }
    std::set<std::string> routed;
    for (const Operation& operation : world.table().all()) {
        routed.insert(to_lower(operation.method) + " " + operation.path);
    }
    EXPECT_EQ(described, routed);
}

// Requests that change state refuse unknown fields, and say so in their schema.
TEST(OpenApi, EveryRequestSchemaRefusesUnknownFields) {
    ApiWorld world;
    for (const Operation& operation : world.table().all()) {
        if (operation.request_schema.is_null()) {
            continue;
        }
        const Json* more = operation.request_schema.find("additionalProperties");
        ASSERT_NE(more, nullptr) << operation.id;
        EXPECT_EQ(*more, Json(false)) << operation.id;
        const HttpResponse response = world.send(
            {.as = "human",
             .method = operation.method,
             .path =
                 [&] {
                     std::string path = operation.path;
                     for (const char* name : {"{tenant_id}", "{approval_id}", "{key_id}"}) {
                         const std::size_t at = path.find(name);
                         if (at != std::string::npos) {
                             path.replace(
                                 at,
                                 std::string(name).size(),
                                 name == std::string("{tenant_id}") ? "demo" : "x");
                         }
                     }
                     return path;
                 }(),
             .body = R"({"zz_unknown":1})"});
        if (operation.id == "apply_control_decision") {
            // A rejection is a normal answer of this tool.
            EXPECT_EQ(response.status, 200);
            EXPECT_NE(response.body.find(R"("status":"rejected")"), std::string::npos);
            EXPECT_NE(response.body.find("zz_unknown"), std::string::npos) << response.body;
        } else if (response.status != 403) {
            EXPECT_EQ(response.status, 422) << operation.id << " " << response.body;
            EXPECT_NE(response.body.find("zz_unknown"), std::string::npos) << operation.id;
        }
    }
}

// docs/contracts/api.md has a row per field of every request; names and "required" must agree.
TEST(ContractDocuments, NameEveryRequestFieldAndWhetherItIsRequired) {
    ApiWorld world;
    const std::string document = read_file("docs/contracts/api.md");
    for (const Operation& operation : world.table().all()) {
        const std::string heading = "### `" + operation.id + "`";
        const std::size_t start = document.find(heading + "\n");
        ASSERT_NE(start, std::string::npos) << "docs/contracts/api.md lacks " << heading;
        const std::size_t end = document.find("\n### ", start + 1);
        const std::string section = document.substr(start, end - start);
        EXPECT_NE(
            section.find("`" + operation.method + " " + operation.path + "`"), std::string::npos)
            << operation.id;
        if (operation.request_schema.is_null()) {
            continue;
        }
        std::set<std::string> required;
        if (const Json* names = operation.request_schema.find("required")) {
            for (const Json& name : names->items()) {
                required.insert(name.as_string());
            }
        }
        std::set<std::string> fields;
        if (const Json* properties = operation.request_schema.find("properties")) {
            for (const auto& [name, schema] : properties->members()) {
                fields.insert(name);
                const std::string row = "| `" + name + "` | ";
                const std::size_t at = section.find(row);
                ASSERT_NE(at, std::string::npos) << operation.id << " lacks a row for " << name;
                const std::string line = section.substr(at, section.find('\n', at) - at);
                EXPECT_EQ(line.find("| yes |") != std::string::npos, required.contains(name))
                    << operation.id << "." << name << ": " << line;
            }
        }
        for (std::size_t at = section.find("\n| `"); at != std::string::npos;
             at = section.find("\n| `", at + 1)) {
            const std::size_t from = at + 4;
            const std::string name = section.substr(from, section.find('`', from) - from);
            EXPECT_TRUE(fields.contains(name)) << operation.id << " documents unknown " << name;
        }
    }
}

// The catalogue is generated from the sources; this reads them in another way.
TEST(ContractDocuments, TheErrorCatalogueHasEveryKindThatTheSourcesDeclare) {
    ApiWorld world;
    const Json catalogue = world.send_json({.path = "/ai/errors.json"});
    std::multiset<std::string> served;
    for (const Json& row : catalogue.find("errors")->items()) {
        served.insert(row.find("code")->as_string());
    }
    std::multiset<std::string> declared;
    // What stands behind ports and what wires it answers nobody.
    const auto answers = [](const std::string& path) {
        constexpr std::array kFolders{
            "base/",
            "codec/",
            "/wire/",
            "/rules/",
            "/ports/",
            "/service/",
            "/face/",
            "/mcp/",
            "/plane/"};
        return std::ranges::any_of(
            kFolders, [&](const char* folder) { return path.contains(folder); });
    };
    const std::filesystem::path root = std::string(INTERLOCK_SOURCE_DIR) + "/src";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
        if (entry.path().extension() != ".h" ||
            !answers(entry.path().lexically_relative(root).string())) {
            continue;
        }
        std::ifstream in(entry.path());
        for (std::string word; in >> word;) {
            if (word != "ErrorKind") {
                continue;
            }
            // A declaration of a kind goes on with `name{"code",`.
            std::string text;
            std::getline(in, text, ',');
            const std::size_t brace = text.find('{');
            const std::size_t from = text.find('"', brace);
            if (brace != std::string::npos && from != std::string::npos) {
                declared.insert(text.substr(from + 1, text.rfind('"') - from - 1));
            }
        }
    }
    EXPECT_GT(declared.size(), 80U);
    EXPECT_EQ(served, declared);
}

TEST(ContractDocuments, EveryToolOfTheCatalogueIsAnOperation) {
    ApiWorld world;
    const Json catalogue = world.send_json({.path = "/ai/tools.json"});
    std::set<std::string> listed;
    for (const Json& tool : catalogue.find("tools")->items()) {
        const Operation* operation = world.table().find(tool.find("id")->as_string());
        ASSERT_NE(operation, nullptr) << to_text(tool);
        EXPECT_EQ(tool.find("path")->as_string(), operation->path);
        listed.insert(operation->id);
    }
    for (const Operation& operation : world.table().all()) {
        EXPECT_TRUE(!operation.tool || listed.contains(operation.id)) << operation.id;
    }
}

}  // namespace
}  // namespace interlock
