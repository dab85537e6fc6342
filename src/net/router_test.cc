// Routes: literals, parameters, and the difference between "no such path" and "not that way".
#include "net/router.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/text.h"

namespace interlock {
namespace {

Router a_router() {
    Router router;
    router.add("GET", "/", 1);
    router.add("GET", "/api/{tenant_id}/kill", 2);
    router.add("POST", "/api/{tenant_id}/kill", 3);
    router.add("POST", "/api/all/kill", 4);
    router.add("GET", "/api/{tenant}/x/{item}", 5);
    router.add("PUT", "/api/all/x/{item}", 6);
    router.add("HEAD", "/own-head", 7);
    router.add("GET", "/own-head", 8);
    return router;
}

std::optional<Router::Match> match(std::string_view method, std::string_view path) {
    const Router router = a_router();
    const Router::Found found = router.find(method, path);
    const auto* hit = std::get_if<Router::Match>(&found);
    return hit == nullptr ? std::nullopt : std::optional(*hit);
}

bool is_not_found(std::string_view method, std::string_view path) {
    return std::holds_alternative<Router::NotFound>(a_router().find(method, path));
}

std::string allow_of(std::string_view method, std::string_view path) {
    const Router::Found found = a_router().find(method, path);
    const auto* no = std::get_if<Router::MethodNotAllowed>(&found);
    return no == nullptr ? "(other outcome)" : no->allow;
}

TEST(Router, FindsLiteralsAndParameters) {
    EXPECT_EQ(match("GET", "/")->id, 1u);
    const auto kill = match("GET", "/api/t1/kill");
    ASSERT_TRUE(kill);
    EXPECT_EQ(kill->id, 2u);
    EXPECT_EQ(kill->param("tenant_id"), "t1");
    EXPECT_EQ(match("POST", "/api/t1/kill")->id, 3u);
}

TEST(Router, PrefersLiteralsButComesBackWhenTheyLeadNowhere) {
    EXPECT_EQ(match("POST", "/api/all/kill")->id, 4u);
    EXPECT_EQ(match("GET", "/api/all/kill")->id, 2u);
    const auto item = match("GET", "/api/all/x/9");
    ASSERT_TRUE(item);
    EXPECT_EQ(item->id, 5u);
    EXPECT_EQ(item->param("tenant"), "all");
    EXPECT_EQ(item->param("item"), "9");
}

TEST(Router, DecodesBeforeItCompares) {
    EXPECT_EQ(match("GET", "/%61pi/a%20b/kill")->param("tenant_id"), "a b");
}

TEST(Router, TellsWhichMethodsAPathHas) {
    EXPECT_EQ(allow_of("DELETE", "/api/t1/kill"), "GET, HEAD, POST");
    EXPECT_EQ(allow_of("DELETE", "/api/all/x/1"), "GET, HEAD, PUT");
    EXPECT_EQ(allow_of("get", "/"), "GET, HEAD");
}

TEST(Router, AnswersHeadByGetUnlessThereIsAHeadRoute) {
    EXPECT_EQ(match("HEAD", "/api/t1/kill")->id, 2u);
    EXPECT_EQ(match("HEAD", "/own-head")->id, 7u);
}

TEST(Router, DoesNotFindWhatIsNotThere) {
    EXPECT_TRUE(is_not_found("GET", "/api"));
    EXPECT_TRUE(is_not_found("GET", "/api/t1"));
    EXPECT_TRUE(is_not_found("GET", "/api/t1/kill/"));
    EXPECT_TRUE(is_not_found("GET", "//api/t1/kill"));
    EXPECT_TRUE(is_not_found("GET", ""));
    EXPECT_TRUE(is_not_found("GET", "api/t1/kill"));
    EXPECT_TRUE(is_not_found("GET", "/API/t1/kill"));
}

TEST(Router, LetsNoParameterEscapeItsSegment) {
    EXPECT_TRUE(is_not_found("GET", "/api//kill"));
    EXPECT_TRUE(is_not_found("GET", "/api/a%2Fb/kill"));
    EXPECT_TRUE(is_not_found("GET", "/api/a%00b/kill"));
    EXPECT_TRUE(is_not_found("GET", "/api/../kill"));
    EXPECT_TRUE(is_not_found("GET", "/api/%2e%2e/kill"));
    EXPECT_TRUE(is_not_found("GET", "/api/./kill"));
    EXPECT_TRUE(is_not_found("GET", "/api/%zz/kill"));
}

TEST(Router, RefusesPathsOverItsBounds) {
    Router router;
    router.add("GET", "/{name}", 1);
    const auto is_found = [&](const std::string& path) {
        return std::holds_alternative<Router::Match>(router.find("GET", path));
    };
    EXPECT_TRUE(is_found("/" + std::string(kRoutePathBytesMax - 1, 'a')));
    EXPECT_FALSE(is_found("/" + std::string(kRoutePathBytesMax, 'a')));

    std::string deep;
    for (std::size_t i = 0; i < kRouteSegmentsMax; ++i) {
        deep += "/a";
    }
    router.add("GET", deep, 2);
    EXPECT_TRUE(is_found(deep));
    EXPECT_FALSE(is_found(deep + "/a"));
}

TEST(RouterDeathTest, RefusesPatternsThatCannotBeMeant) {
    Router router = a_router();
    EXPECT_DEATH(router.add("GET", "api", 9), "CHECK|starts_with");
    EXPECT_DEATH(router.add("GET", "/{a}/{a}", 9), "param_names");
    EXPECT_DEATH(router.add("GET", "/x{a}", 9), "find_first_of");
    EXPECT_DEATH(router.add("GET", "/api/{other_name}/kill", 9), "is_new");
}

TEST(Router, GivesBackEveryParameterThatWasEncoded) {
    EXPECT_TRUE(rc::check([] {
        const auto value = *rc::gen::suchThat(
            rc::gen::nonEmpty(rc::gen::resize(60, rc::gen::string<std::string>())),
            [](const std::string& text) {
                return text != "." && text != ".." &&
                       text.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
            });
        Router router;
        router.add("GET", "/a/{value}/b", 1);
        const Router::Found found = router.find("GET", "/a/" + percent_encode(value) + "/b");
        const auto* hit = std::get_if<Router::Match>(&found);
        RC_ASSERT(hit != nullptr);
        RC_ASSERT(hit->param("value") == value);
    }));
}

TEST(Router, NeverPutsASlashOrNothingIntoAParameter) {
    EXPECT_TRUE(rc::check([] {
        Router router;
        router.add("GET", "/{a}", 1);
        router.add("GET", "/{a}/{b}", 2);
        const auto pieces = *rc::gen::container<std::vector<std::string>>(
            rc::gen::element<std::string>("/", "a", "%2f", "%00", ".", "%2e", "%", "%4", "é"));
        std::string path = "/";
        for (const std::string& piece : pieces) {
            path += piece;
        }
        const Router::Found found = router.find("GET", path);
        if (const auto* hit = std::get_if<Router::Match>(&found)) {
            RC_ASSERT(hit->params.size() == hit->id);
            for (const auto& [name, value] : hit->params) {
                RC_ASSERT(!value.empty() && value != "." && value != "..");
                RC_ASSERT(value.find('/') == std::string::npos);
                RC_ASSERT(value.find('\0') == std::string::npos);
            }
        }
    }));
}

}  // namespace
}  // namespace interlock
