#include "app/face/metrics_face.h"

#include <gtest/gtest.h>

#include "testing/fake_http.h"

namespace interlock {
namespace {

HttpResponse ask(std::string method, std::string target, std::string host) {
    Metrics metrics;
    metrics.add_gauge("interlock_test_number", "A number.", [] { return 7.0; });
    HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.headers = {{"Host", std::move(host)}};
    const auto responder = std::make_shared<FakeResponder>();
    metrics_handler(metrics, {"metrics.internal"})(std::move(request), responder);
    return responder->response.value_or(HttpResponse{.status = 0, .headers = {}, .body = {}});
}

TEST(MetricsFace, AnswersWithTheNumbers) {
    const HttpResponse response = ask("GET", "/metrics", "127.0.0.1:9420");
    EXPECT_EQ(response.status, 200);
    EXPECT_NE(response.body.find("interlock_test_number 7"), std::string::npos);
    EXPECT_EQ(ask("GET", "/metrics", "metrics.internal").status, 200);
}

TEST(MetricsFace, AnswersNothingElse) {
    EXPECT_EQ(ask("GET", "/", "localhost").status, 404);
    EXPECT_EQ(ask("GET", "/healthz", "localhost").status, 404);
    EXPECT_EQ(ask("POST", "/api/_system/kill", "localhost").status, 404);
    EXPECT_EQ(ask("POST", "/metrics", "localhost").status, 405);
}

TEST(MetricsFace, IsNotReadUnderTheNameOfAnotherSite) {
    const HttpResponse response = ask("GET", "/metrics", "evil.example:9420");
    EXPECT_EQ(response.status, 403);
    EXPECT_EQ(response.body.find("interlock_test_number"), std::string::npos);
}

}  // namespace
}  // namespace interlock
