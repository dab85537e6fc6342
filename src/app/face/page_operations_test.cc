#include "app/face/page_operations.h"

#include <gtest/gtest.h>

#include "app/face/openapi.h"
#include "app/face/page_files.h"
#include "host/face/http_face.h"
#include "testing/fake_clock.h"
#include "testing/fake_http.h"

namespace interlock {
namespace {

// The pages behind the real face, as a browser meets them.
class Pages : public ::testing::Test {
protected:
    Pages() { register_page_operations(table_); }

    HttpResponse get(const std::string& target, const std::string& accept = "*/*") {
        HttpFace face(
            {.table = table_,
             .directory = directory_,
             .clock = clock_,
             .metrics = metrics_,
             .mcp = {},
             .lost_page = lost_page},
            {});
        HttpRequest request;
        request.method = "GET";
        request.target = target;
        request.headers = {{"Host", "localhost:8420"}, {"Accept", accept}};
        const auto responder = std::make_shared<FakeResponder>();
        face.handle(std::move(request), responder);
        EXPECT_TRUE(responder->response);
        return responder->response.value_or(HttpResponse{});
    }

    OperationTable table_;
    PrincipalDirectory directory_;
    FakeClock clock_;
    Metrics metrics_;
};

// The files whose names end so; a test that walks them must not walk nothing.
std::vector<EmbeddedFile> files_ending(std::string_view ending) {
    std::vector<EmbeddedFile> found;
    for (const EmbeddedFile& file : page_files()) {
        if (file.name.ends_with(ending)) {
            found.push_back(file);
        }
    }
    EXPECT_FALSE(found.empty()) << ending;
    return found;
}

// What `attribute="…"` says, each time it stands in the text.
std::vector<std::string> values_of(std::string_view text, const std::string& attribute) {
    std::vector<std::string> values;
    const std::string start = " " + attribute + "=\"";
    for (std::size_t at = text.find(start); at != text.npos; at = text.find(start, at + 1)) {
        const std::size_t from = at + start.size();
        values.emplace_back(text.substr(from, text.find('"', from) - from));
    }
    return values;
}

// Attributes such as onclick="…", which are inline scripts.
std::vector<std::string> handlers_in(std::string_view text) {
    std::vector<std::string> found;
    for (std::size_t at = text.find(" on"); at != text.npos; at = text.find(" on", at + 1)) {
        const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz", at + 1);
        if (end != text.npos && text[end] == '=') {
            found.emplace_back(text.substr(at + 1, end - at - 1));
        }
    }
    return found;
}

TEST_F(Pages, ServeTheHomePageAsHtml) {
    const HttpResponse response = get("/");

    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.header("Content-Type"), "text/html; charset=utf-8");
    EXPECT_TRUE(response.body.starts_with("<!doctype html>"));
    EXPECT_TRUE(response.body.ends_with("</html>\n"));
}

TEST_F(Pages, ServeTheActivationPageWithTheCodeInItsAddress) {
    const HttpResponse response = get("/activate?code=ilc_abc");

    EXPECT_EQ(response.status, 200);
    EXPECT_NE(response.body.find("activate-form"), std::string::npos);
    EXPECT_EQ(response.body.find("ilc_abc"), std::string::npos);
}

TEST_F(Pages, CarryExactlyOneStrictContentSecurityPolicy) {
    for (const char* target : {"/", "/activate", "/assets/page.css", "/assets/dashboard.js"}) {
        const HttpResponse response = get(target);
        std::vector<std::string> policies;
        for (const auto& [name, value] : response.headers) {
            if (name == "Content-Security-Policy") {
                policies.push_back(value);
            }
        }
        EXPECT_EQ(
            policies,
            std::vector<std::string>{
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                "img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; "
                "base-uri 'none'"})
            << target;
    }
}

TEST_F(Pages, AreNeitherStoredNorTellWhereAReaderCameFrom) {
    const HttpResponse response = get("/activate?code=ilc_abc");

    EXPECT_EQ(response.header("Cache-Control"), "no-store");
    EXPECT_EQ(response.header("Referrer-Policy"), "no-referrer");
}

TEST_F(Pages, HoldNothingThatThePolicyWouldRefuse) {
    for (const EmbeddedFile& file : files_ending(".html")) {
        EXPECT_EQ(file.bytes.find("<script>"), file.bytes.npos) << file.name;
        EXPECT_EQ(file.bytes.find("<style"), file.bytes.npos) << file.name;
        EXPECT_EQ(file.bytes.find(" style="), file.bytes.npos) << file.name;
        EXPECT_EQ(handlers_in(file.bytes), std::vector<std::string>{}) << file.name;
        EXPECT_EQ(file.bytes.find("://"), file.bytes.npos) << file.name;
    }
}

TEST_F(Pages, LoadOnlyFilesThatAreServed) {
    for (const EmbeddedFile& file : files_ending(".html")) {
        std::vector<std::string> loaded = values_of(file.bytes, "src");
        for (const std::string& href : values_of(file.bytes, "href")) {
            loaded.push_back(href);
        }
        EXPECT_GE(loaded.size(), 2u) << file.name;
        for (const std::string& target : loaded) {
            EXPECT_EQ(get(target).status, 200) << file.name << " loads " << target;
        }
    }
}

// A form that is sent before its script has loaded must not put a password into an address.
TEST_F(Pages, NeverSendAFormByGet) {
    std::size_t forms = 0;
    for (const EmbeddedFile& file : files_ending(".html")) {
        for (std::size_t at = file.bytes.find("<form"); at != file.bytes.npos;
             at = file.bytes.find("<form", at + 1)) {
            const std::string_view tag = file.bytes.substr(at, file.bytes.find('>', at) - at);
            EXPECT_NE(tag.find(" method=\"post\""), tag.npos) << tag;
            ++forms;
        }
    }
    EXPECT_GT(forms, 3u);
}

// Somebody who types an address sees a page; a program at the same address reads JSON.
TEST_F(Pages, ShowABrowserAPageWhereThereIsNone) {
    const HttpResponse shown = get("/nothing", "text/html,application/xhtml+xml;q=0.9");
    const HttpResponse read = get("/nothing");

    EXPECT_EQ(shown.status, 404);
    EXPECT_EQ(shown.header("Content-Type"), "text/html; charset=utf-8");
    EXPECT_TRUE(shown.body.contains("There is no page at this address"));
    EXPECT_EQ(shown.header("Content-Security-Policy"), kPagePolicy);
    EXPECT_EQ(read.status, 404);
    EXPECT_TRUE(read.body.contains(R"("code":"no_such_route")")) << read.body;
}

TEST_F(Pages, ShowABrowserAPageWhereOnlyProgramsPost) {
    Operation signup;
    signup.id = "signup";
    signup.method = "POST";
    signup.path = "/signup";
    table_.add(std::move(signup));

    const HttpResponse shown = get("/signup", "text/html");

    EXPECT_EQ(shown.status, 405);
    EXPECT_EQ(shown.header("Allow"), "POST");
    EXPECT_TRUE(shown.body.contains("POST /signup"));
}

// Reasons and summaries are written by agents: a script that made markup of text would run theirs.
TEST_F(Pages, NeverMakeMarkupOrCodeOfText) {
    for (const EmbeddedFile& file : files_ending(".js")) {
        for (const char* word :
             {"innerHTML",
              "outerHTML",
              "insertAdjacentHTML",
              "document.write",
              "eval(",
              "Function(",
              "localStorage",
              "sessionStorage",
              "document.cookie"}) {
            EXPECT_EQ(file.bytes.find(word), file.bytes.npos) << file.name << ": " << word;
        }
    }
}

TEST_F(Pages, ServeStylesAndScriptsUnderTheirTypes) {
    EXPECT_EQ(get("/assets/page.css").header("Content-Type"), "text/css; charset=utf-8");
    for (const EmbeddedFile& file : files_ending(".js")) {
        const HttpResponse response = get("/assets/" + std::string(file.name));
        EXPECT_EQ(response.status, 200) << file.name;
        EXPECT_EQ(response.header("Content-Type"), "text/javascript; charset=utf-8");
        EXPECT_EQ(response.body, file.bytes);
    }
}

TEST_F(Pages, DoNotKnowOtherFiles) {
    for (const char* target :
         {"/assets/nothing.js", "/assets/page.css.js", "/assets/index.html", "/assets/%2e%2e"}) {
        EXPECT_EQ(get(target).status, 404) << target;
    }
}

TEST_F(Pages, AreDescribedByTheirContentTypes) {
    const Json document = openapi_document(table_, "test");
    const auto content_of = [&](std::string_view path) {
        const Json* get = document.find("paths")->find(path)->find("get");
        return to_text(*get->find("responses")->find("200")->find("content"));
    };

    EXPECT_EQ(content_of("/"), R"({"text/html; charset=utf-8":{"schema":{"type":"string"}}})");
    EXPECT_EQ(
        content_of("/assets/{name}"),
        R"({"text/css; charset=utf-8":{"schema":{"type":"string"}},)"
        R"("text/javascript; charset=utf-8":{"schema":{"type":"string"}},)"
        R"("image/svg+xml":{"schema":{"type":"string"}}})");
}

}  // namespace
}  // namespace interlock
