#include "app/mcp/mcp_fixtures.h"

#include <utility>

#include "app/mcp/mcp_fixture_content.h"

namespace interlock {
namespace {

constexpr std::string_view kTemplateBegin = "test://template/";
constexpr std::string_view kTemplateEnd = "/data";

Json empty_schema() {
    return Json::object({{"type", "object"}, {"properties", Json::object()}});
}

Json one_text_schema(std::string name, std::string description) {
    Json properties = Json::object();
    properties.set(
        name, Json::object({{"type", "string"}, {"description", std::move(description)}}));
    return Json::object(
        {{"type", "object"},
         {"properties", std::move(properties)},
         {"required", Json::array({name})}});
}

Json contents(Json item) {
    return Json::object({{"content", Json::array({std::move(item)})}});
}

std::string text_argument(const Json& arguments, std::string_view name) {
    const Json* value = arguments.find(name);
    return value != nullptr && value->is_string() ? value->as_string() : "";
}

// What a client said to a question, as the text of a tool's answer.
Json told(const std::string& prefix, const RpcOutcome& outcome) {
    if (!outcome) {
        return tool_text_result("The client refused: " + outcome.error().message, true);
    }
    const Json* action = outcome->find("action");
    const Json* content = outcome->find("content");
    return tool_text_result(
        prefix + "action=" + (action != nullptr && action->is_string() ? action->as_string() : "") +
        ", content=" + (content != nullptr ? to_text(*content) : "{}"));
}

void elicit(const McpExchangePtr& exchange, std::string message, Json form, std::string prefix) {
    if (!exchange->session().client_can("elicitation")) {
        exchange->answer(tool_text_result("The client does not support elicitation.", true));
        return;
    }
    exchange->ask_client(
        "elicitation/create",
        Json::object({{"message", std::move(message)}, {"requestedSchema", std::move(form)}}),
        [exchange, prefix = std::move(prefix)](const RpcOutcome& outcome) {
            exchange->answer(told(prefix, outcome));
        });
}

void sample(const McpExchangePtr& exchange, const Json& arguments) {
    if (!exchange->session().client_can("sampling")) {
        exchange->answer(tool_text_result("The client does not support sampling.", true));
        return;
    }
    const Json message = Json::object(
        {{"role", "user"}, {"content", text_content(text_argument(arguments, "prompt"))}});
    exchange->ask_client(
        "sampling/createMessage",
        Json::object({{"messages", Json::array({message})}, {"maxTokens", 100}}),
        [exchange](const RpcOutcome& outcome) {
            if (!outcome) {
                exchange->answer(
                    tool_text_result("The client refused: " + outcome.error().message, true));
                return;
            }
            const Json* content = outcome->find("content");
            const Json* text = content != nullptr ? content->find("text") : nullptr;
            exchange->answer(tool_text_result(
                "LLM response: " +
                (text != nullptr && text->is_string() ? text->as_string() : "")));
        });
}

Json prompt_message(Json content) {
    return Json::object({{"role", "user"}, {"content", std::move(content)}});
}

Json resource_contents(std::string uri, std::string mime_type, Json::Member body) {
    Json item = Json::object({{"uri", std::move(uri)}, {"mimeType", std::move(mime_type)}});
    item.set(std::move(body.first), std::move(body.second));
    return Json::object({{"contents", Json::array({std::move(item)})}});
}

}  // namespace

McpFixtures::McpFixtures(McpScheduler run_after) : run_after_(std::move(run_after)) {
    add_content_tools();
    add_timed_tools();
    add_asking_tools();
}

void McpFixtures::add(
    std::string name,
    std::string description,
    std::function<void(const McpExchangePtr&, const Json&)> call,
    Json input_schema) {
    McpTool shown{
        .name = name,
        .title = std::move(name),
        .description = std::move(description),
        .input_schema = input_schema.is_null() ? empty_schema() : std::move(input_schema),
    };
    tools_.push_back({std::move(shown), std::move(call)});
}

void McpFixtures::add_content_tools() {
    const auto fixed = [](Json result) {
        return [result = std::move(result)](
                   const McpExchangePtr& exchange, const Json&) { exchange->answer(result); };
    };
    add("test_simple_text", "Answers one text.", fixed(tool_text_result("A plain text answer.")));
    add("test_image_content", "Answers one image.", fixed(contents(fixture_image())));
    add("test_audio_content", "Answers one sound.", fixed(contents(fixture_audio())));
    add("test_embedded_resource",
        "Answers one embedded resource.",
        fixed(contents(fixture_embedded_text(
            "test://embedded-resource", "text/plain", "The text of an embedded resource."))));
    add("test_multiple_content_types",
        "Answers a text, an image and a resource.",
        fixed(Json::object(
            {{"content",
              Json::array(
                  {text_content("Three kinds of content:"),
                   fixture_image(),
                   fixture_embedded_text(
                       "test://mixed-content-resource",
                       "application/json",
                       R"({"test":"data","value":123})")})}})));
    add("test_error_handling",
        "Always fails.",
        fixed(tool_text_result("This tool always fails, on purpose.", true)));
    add(
        "json_schema_2020_12_tool",
        "Shows an input schema with the less common keywords.",
        [](const McpExchangePtr& exchange, const Json& arguments) {
            exchange->answer(tool_text_result("Received " + to_text(arguments)));
        },
        fixture_full_schema());
}

void McpFixtures::add_timed_tools() {
    add("test_tool_with_logging",
        "Logs three times before it answers.",
        [this](const McpExchangePtr& exchange, const Json&) {
            exchange->log(McpLogLevel::info, "Tool execution started");
            run_after_(kMcpFixturePause, [this, exchange] {
                exchange->log(McpLogLevel::info, "Tool processing data");
                run_after_(kMcpFixturePause, [exchange] {
                    exchange->log(McpLogLevel::info, "Tool execution completed");
                    exchange->answer(tool_text_result("Logged three messages."));
                });
            });
        });
    add("test_tool_with_progress",
        "Reports progress three times before it answers.",
        [this](const McpExchangePtr& exchange, const Json&) {
            exchange->progress(0, 100);
            run_after_(kMcpFixturePause, [this, exchange] {
                exchange->progress(50, 100);
                run_after_(kMcpFixturePause, [exchange] {
                    exchange->progress(100, 100);
                    exchange->answer(tool_text_result("Reported progress three times."));
                });
            });
        });
    add("test_reconnection",
        "Closes the stream in the middle of the call; the answer is fetched with Last-Event-ID.",
        [this](const McpExchangePtr& exchange, const Json&) {
            exchange->pause();
            run_after_(2 * kMcpFixturePause, [exchange] {
                exchange->answer(tool_text_result("Answered after the stream was closed."));
            });
        });
}

void McpFixtures::add_asking_tools() {
    add("test_sampling",
        "Asks the client's model.",
        sample,
        one_text_schema("prompt", "What to ask the model."));
    add(
        "test_elicitation",
        "Asks the client's user.",
        [](const McpExchangePtr& exchange, const Json& arguments) {
            elicit(
                exchange,
                text_argument(arguments, "message"),
                fixture_contact_form(),
                "User response: ");
        },
        one_text_schema("message", "What to show the user."));
    add("test_elicitation_sep1034_defaults",
        "Asks the client's user with a default for every primitive type.",
        [](const McpExchangePtr& exchange, const Json&) {
            elicit(
                exchange,
                "Please look through the defaults.",
                fixture_defaults_form(),
                "Elicitation completed: ");
        });
    add("test_elicitation_sep1330_enums",
        "Asks the client's user with every shape of a choice.",
        [](const McpExchangePtr& exchange, const Json&) {
            elicit(exchange, "Please choose.", fixture_choices_form(), "Elicitation completed: ");
        });
}

std::vector<McpTool> McpFixtures::tools(const Principal&) {
    std::vector<McpTool> shown;
    for (const FixtureTool& tool : tools_) {
        shown.push_back(tool.shown);
    }
    return shown;
}

void McpFixtures::call_tool(McpExchangePtr exchange, std::string name, Json arguments) {
    for (const FixtureTool& tool : tools_) {
        if (tool.shown.name == name) {
            tool.call(exchange, arguments);
            return;
        }
    }
    exchange->answer(rpc_fail(kRpcInvalidParams, "There is no tool " + name + "."));
}

std::vector<McpResource> McpFixtures::resources(const Principal&) {
    return {
        {"test://static-text", "static_text", "A fixed text.", "text/plain"},
        {"test://static-binary", "static_binary", "A fixed image.", "image/png"},
        {"test://watched-resource", "watched_resource", "May be subscribed to.", "text/plain"},
    };
}

std::vector<McpResource> McpFixtures::resource_templates(const Principal&) {
    return {
        {"test://template/{id}/data",
         "template_data",
         "Repeats the id it is read with.",
         "application/json"}};
}

void McpFixtures::read_resource(McpExchangePtr exchange, std::string uri) {
    if (uri == "test://static-text") {
        exchange->answer(
            resource_contents(uri, "text/plain", {"text", "The text of a fixed resource."}));
    } else if (uri == "test://static-binary") {
        exchange->answer(resource_contents(uri, "image/png", {"blob", fixture_png_base64()}));
    } else if (uri == "test://watched-resource") {
        exchange->answer(
            resource_contents(uri, "text/plain", {"text", "The text of a watched resource."}));
    } else if (
        uri.starts_with(kTemplateBegin) && uri.ends_with(kTemplateEnd) &&
        uri.size() > kTemplateBegin.size() + kTemplateEnd.size()) {
        const std::string id = uri.substr(
            kTemplateBegin.size(), uri.size() - kTemplateBegin.size() - kTemplateEnd.size());
        const Json data =
            Json::object({{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}});
        exchange->answer(resource_contents(uri, "application/json", {"text", to_text(data)}));
    } else {
        exchange->answer(no_such_resource(uri));
    }
}

std::vector<McpPrompt> McpFixtures::prompts(const Principal&) {
    return {
        {"test_simple_prompt", "A prompt without arguments.", {}},
        {"test_prompt_with_arguments",
         "A prompt that repeats two arguments.",
         {{"arg1", "The first argument."}, {"arg2", "The second argument."}}},
        {"test_prompt_with_embedded_resource",
         "A prompt that embeds a resource.",
         {{"resourceUri", "The uri of the resource."}}},
        {"test_prompt_with_image", "A prompt with an image.", {}},
    };
}

void McpFixtures::get_prompt(McpExchangePtr exchange, std::string name, Json arguments) {
    Json messages = Json::array();
    if (name == "test_simple_prompt") {
        messages.push(prompt_message(text_content("A prompt without arguments.")));
    } else if (name == "test_prompt_with_arguments") {
        messages.push(prompt_message(text_content(
            "Prompt with arguments: arg1='" + text_argument(arguments, "arg1") + "', arg2='" +
            text_argument(arguments, "arg2") + "'")));
    } else if (name == "test_prompt_with_embedded_resource") {
        messages.push(prompt_message(fixture_embedded_text(
            text_argument(arguments, "resourceUri"), "text/plain", "The embedded text.")));
        messages.push(prompt_message(text_content("Please read the resource above.")));
    } else if (name == "test_prompt_with_image") {
        messages.push(prompt_message(fixture_image()));
        messages.push(prompt_message(text_content("Please look at the image above.")));
    } else {
        exchange->answer(rpc_fail(kRpcInvalidParams, "There is no prompt " + name + "."));
        return;
    }
    exchange->answer(Json::object({{"messages", std::move(messages)}}));
}

void McpFixtures::complete(McpExchangePtr exchange, Json params) {
    const Json* argument = params.find("argument");
    if (params.find("ref") == nullptr || argument == nullptr) {
        exchange->answer(rpc_fail(kRpcInvalidParams, "The params need \"ref\" and \"argument\"."));
        return;
    }
    Json values = Json::array();
    const std::string begun = text_argument(*argument, "value");
    for (const std::string_view word : {"paris", "park", "party"}) {
        if (word.starts_with(begun)) {
            values.push(word);
        }
    }
    const auto total = values.items().size();
    exchange->answer(Json::object(
        {{"completion",
          Json::object({{"values", std::move(values)}, {"total", total}, {"hasMore", false}})}}));
}

}  // namespace interlock
