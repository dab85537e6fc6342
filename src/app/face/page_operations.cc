#include "app/face/page_operations.h"

#include <algorithm>
#include <utility>

#include "app/face/page_files.h"
#include "base/check.h"
#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kStyle = "text/css; charset=utf-8";
constexpr std::string_view kPicture = "image/svg+xml";
constexpr std::string_view kScript = "text/javascript; charset=utf-8";

// Nothing when there is no such file.
const EmbeddedFile* find_file(std::string_view name) {
    const auto files = page_files();
    const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
    return found == files.end() ? nullptr : &*found;
}

ApiReply file_reply(const EmbeddedFile& file, std::string_view content_type) {
    ApiReply out;
    out.body = file.bytes;
    out.is_document = true;
    out.content_type = content_type;
    out.headers.emplace_back("Content-Security-Policy", kPagePolicy);
    return out;
}

// Open to anyone: a page is the same for everyone, and whoever logs in needs it before.
Operation get_operation(std::string id, std::string path) {
    Operation operation;
    operation.id = std::move(id);
    operation.method = "GET";
    operation.path = std::move(path);
    operation.access = {.place = Access::Place::host, .anyone = true};
    operation.lane = AnonymousLane::page;
    return operation;
}

Operation page_operation(std::string id, std::string path, std::string_view name) {
    const EmbeddedFile* file = find_file(name);
    CHECK(file != nullptr);
    Operation page = get_operation(std::move(id), std::move(path));
    page.answer_content_types = {std::string(kHtml)};
    page.handle = [file](ApiCall, ApiReplyTo reply) { reply(file_reply(*file, kHtml)); };
    return page;
}

// Nothing for pages: they have addresses of their own.
std::string_view type_of(std::string_view name) {
    return name.ends_with(".css")   ? kStyle
           : name.ends_with(".js")  ? kScript
           : name.ends_with(".svg") ? kPicture
                                    : std::string_view();
}

void reply_with_asset(const std::string& name, const ApiReplyTo& reply) {
    const EmbeddedFile* file = find_file(name);
    const std::string_view type = type_of(name);
    if (file == nullptr || type.empty()) {
        reply(fail(errors::not_found, "There is no file of this name."));
        return;
    }
    reply(file_reply(*file, type));
}

}  // namespace

HttpResponse lost_page(int status) {
    const EmbeddedFile* const file = find_file("lost.html");
    CHECK(file != nullptr);
    HttpResponse response;
    response.status = status;
    response.body = file->bytes;
    response.set("Content-Type", std::string(kHtml));
    response.set("Content-Security-Policy", std::string(kPagePolicy));
    return response;
}

void register_page_operations(OperationTable& table) {
    Operation home = page_operation("page_home", "/", "index.html");
    home.summary = "The page for humans: log in, stop, approve, read the audit.";
    home.description = "It shows a login form or the desk, as GET /account/session answers.";
    table.add(std::move(home));

    Operation activate = page_operation("page_activate", "/activate", "activate.html");
    activate.summary = "The page that an invitation leads to.";
    activate.description =
        "It reads the one-time code in the browser and posts it to /account/activate with the "
        "chosen password; opening the page does not use the code up.";
    activate.query = {
        {"code",
         "The one-time code of the invitation; the server does not look at it here.",
         Json::object({{"type", "string"}, {"maxLength", 128}})}};
    table.add(std::move(activate));

    Operation recover = page_operation("page_recover", "/recover", "recover.html");
    recover.summary = "The page for who cannot log in: a recovery code, or the letter once more.";
    recover.description =
        "It posts to /account/recover or /account/activation-letter; opening it does nothing.";
    table.add(std::move(recover));

    Operation asset = get_operation("page_asset", "/assets/{name}");
    asset.summary = "A script, style or picture that the pages load.";
    asset.description = "The same for everyone; travels inside the program.";
    asset.answer_content_types = {std::string(kStyle), std::string(kScript), std::string(kPicture)};
    asset.handle = [](ApiCall call, ApiReplyTo reply) {
        reply_with_asset(call.path.at("name"), reply);
    };
    table.add(std::move(asset));
}

}  // namespace interlock
