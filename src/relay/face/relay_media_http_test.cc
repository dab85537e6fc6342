#include "relay/face/relay_media_http.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "testing/fake_http.h"
#include "testing/outbound_desk.h"

namespace interlock {
namespace {

class RelayMediaHttpTest : public testing::Test {
protected:
    static HttpRequest request(
        const std::string& method, const std::string& target, const std::string& bearer) {
        HttpRequest made;
        made.method = method;
        made.target = target;
        if (!bearer.empty()) {
            made.headers.emplace_back("Authorization", "Bearer " + bearer);
        }
        return made;
    }
    HttpResponse send(HttpRequest made) {
        EXPECT_TRUE(RelayMediaHttp::takes(made));
        const auto responder = std::make_shared<FakeResponder>();
        http_.handle(std::move(made), responder);
        desk_.run();
        CHECK(responder->response.has_value());
        return *responder->response;
    }
    HttpResponse upload(const std::string& bearer, const std::string& body) {
        HttpRequest made = request("POST", "/relay/media", bearer);
        made.headers.emplace_back("Content-Type", "image/png; x=y");
        made.headers.emplace_back("X-Media-Filename", "../\"cat\".png");
        made.body = body;
        return send(std::move(made));
    }
    static std::string field(const HttpResponse& response, std::string_view key) {
        const Json json = parse_json(response.body).value();
        const Json* const found = json.find(key);
        return found == nullptr ? "" : found->is_string() ? found->as_string() : to_text(*found);
    }

    OutboundDesk desk_;
    RelayMediaHttp http_{desk_.process->media, [](const HttpRequest& made) -> Result<RelayCaller> {
                             const auto bearer = made.header("Authorization").value_or("");
                             if (!bearer.starts_with("Bearer ")) {
                                 return fail(errors::unauthenticated, "The credential is missing.");
                             }
                             return OutboundDesk::caller(std::string(bearer.substr(7)));
                         }};
};

TEST_F(RelayMediaHttpTest, TakesAFileAndGivesItBackToItsTenant) {
    const HttpResponse stored = upload("i1", "bytes");
    EXPECT_EQ(stored.status, 200);
    EXPECT_EQ(field(stored, "size"), "5");
    const std::string path = "/relay/media/" + field(stored, "id");
    const HttpResponse fetched = send(request("GET", path, "i2"));
    EXPECT_EQ(fetched.status, 200);
    EXPECT_EQ(fetched.body, "bytes");
    EXPECT_EQ(fetched.header("Content-Type"), "image/png");
    EXPECT_EQ(fetched.header("Content-Disposition"), "attachment; filename=\"_cat_.png\"");
    EXPECT_EQ(fetched.header("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(send(request("GET", path, "x1")).status, 404);
}

TEST_F(RelayMediaHttpTest, SaysFromTheHeadWhoMayUpload) {
    const HeadVerdict known = http_.judge(request("POST", "/relay/media", "i1"));
    EXPECT_TRUE(known.is_large);
    EXPECT_EQ(known.body_bytes_max, kMediaBytesMax);
    EXPECT_TRUE(known.holder.starts_with("tenant:"));
    const HeadVerdict nobody = http_.judge(request("POST", "/relay/media", ""));
    EXPECT_FALSE(nobody.is_large);
    EXPECT_EQ(nobody.holder, "");
    ASSERT_TRUE(nobody.refusal);
    EXPECT_EQ(nobody.refusal->status, 401);
    EXPECT_FALSE(http_.judge(request("GET", "/relay/media/med_x", "i1")).is_large);
}

TEST_F(RelayMediaHttpTest, AsksForACredential) {
    const HttpResponse refused = upload("", "bytes");
    EXPECT_EQ(refused.status, 401);
    EXPECT_EQ(field(refused, "code"), "unauthenticated");
    EXPECT_EQ(send(request("GET", "/relay/media/med_x", "")).status, 401);
    EXPECT_TRUE(desk_.folder.list().value().empty());
}

TEST_F(RelayMediaHttpTest, RefusesWhatIsTooLargeOrEmpty) {
    EXPECT_EQ(upload("i1", std::string(kMediaBytesMax + 1, 'x')).status, 413);
    EXPECT_EQ(upload("i1", "").status, 400);
}

TEST_F(RelayMediaHttpTest, SaysWhenTheQuotaIsUsedUp) {
    for (std::size_t i = 0; i < kMediaInstanceFilesMax; ++i) {
        ASSERT_EQ(upload("i1", "x").status, 200);
    }
    const HttpResponse refused = upload("i1", "x");
    EXPECT_EQ(refused.status, 429);
    EXPECT_TRUE(refused.header("Retry-After"));
}

TEST_F(RelayMediaHttpTest, RefusesOtherMethodsAndPaths) {
    const HttpResponse refused = send(request("GET", "/relay/media", "i1"));
    EXPECT_EQ(refused.status, 405);
    EXPECT_EQ(refused.header("Allow"), "POST");
    EXPECT_EQ(send(request("DELETE", "/relay/media/med_x", "i1")).header("Allow"), "GET");
    EXPECT_EQ(send(request("GET", "/relay/media/../../etc/passwd", "i1")).status, 404);
    EXPECT_FALSE(RelayMediaHttp::takes(request("GET", "/relay/mediax", "")));
    EXPECT_FALSE(RelayMediaHttp::takes(request("GET", "/relay", "")));
}

}  // namespace
}  // namespace interlock
