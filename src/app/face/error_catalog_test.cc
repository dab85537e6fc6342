#include "app/face/error_catalog.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/errors.h"
#include "host/face/problem.h"

namespace interlock {
namespace {

TEST(ErrorCatalog, HoldsKindsOfTheLowestLayerAndOfThisOne) {
    std::set<const ErrorKind*> kinds(error_kinds().begin(), error_kinds().end());
    EXPECT_TRUE(kinds.contains(&errors::invalid_json));
    EXPECT_TRUE(kinds.contains(&errors::rate_limited));
    EXPECT_TRUE(kinds.contains(&errors::no_such_route));
}

// Programs match on codes: each must mean one thing, wherever it is told.
TEST(ErrorCatalog, ACodeMeansTheSameEverywhere) {
    std::map<std::string_view, bool> retryable;
    std::set<std::pair<std::string_view, int>> told;
    for (const ErrorKind* kind : error_kinds()) {
        EXPECT_TRUE(told.emplace(kind->code, kind->http_status).second)
            << kind->code << " is declared twice";
        EXPECT_EQ(retryable.emplace(kind->code, kind->retryable).first->second, kind->retryable)
            << kind->code;
    }
}

TEST(ErrorCatalog, SaysOfEveryKindWhatACallerNeeds) {
    for (const ErrorKind* kind : error_kinds()) {
        EXPECT_FALSE(kind->code.empty());
        for (const char c : kind->code) {
            EXPECT_TRUE((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_') << kind->code;
        }
        EXPECT_TRUE(kind->http_status >= 200 && kind->http_status <= 599) << kind->code;
        EXPECT_TRUE(kind->next_step.ends_with('.')) << kind->code << ": " << kind->next_step;
    }
}

TEST(ErrorCatalog, IsSortedByCode) {
    const Json catalog = error_catalog();
    const std::vector<Json>& rows = catalog.find("errors")->items();
    ASSERT_EQ(rows.size(), error_kinds().size());
    for (std::size_t i = 1; i < rows.size(); ++i) {
        EXPECT_LE(rows[i - 1].find("code")->as_string(), rows[i].find("code")->as_string());
    }
}

}  // namespace
}  // namespace interlock
