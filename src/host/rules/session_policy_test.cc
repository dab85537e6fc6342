#include "host/rules/session_policy.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

constexpr Timestamp kNow{1'794'744'000'000'000};

HumanSession session(std::string id, Timestamp created_at = kNow) {
    HumanSession made;
    made.session_id = SessionId::trusted(std::move(id));
    made.created_at = created_at;
    made.authenticated_at = created_at;
    made.expires_at = created_at + kSessionLife;
    return made;
}

SessionId id(std::string text) {
    return SessionId::trusted(std::move(text));
}

TEST(SessionPolicy, DropsTheOldestSessionAtTheBound) {
    Human human;
    for (std::size_t i = 0; i <= kSessionsMax; ++i) {
        human = open_session(std::move(human), session("ses_" + std::to_string(i)));
    }

    EXPECT_EQ(human.sessions.size(), kSessionsMax);
    EXPECT_EQ(find_session(human, id("ses_0"), kNow), nullptr);
    EXPECT_NE(find_session(human, id("ses_1"), kNow), nullptr);
    EXPECT_NE(find_session(human, id("ses_10"), kNow), nullptr);
}

TEST(SessionPolicy, DropsExpiredSessionsBeforeLiveOnes) {
    Human human = open_session(Human{}, session("ses_old"));

    human = open_session(std::move(human), session("ses_new", kNow + kSessionLife));

    ASSERT_EQ(human.sessions.size(), 1u);
    EXPECT_EQ(human.sessions.front().session_id, id("ses_new"));
}

TEST(SessionPolicy, EndsASessionTwelveHoursAfterItBegan) {
    Human human = open_session(Human{}, session("ses_1"));
    // A proof inside the session does not prolong it.
    human = note_proof(std::move(human), id("ses_1"), kNow + Duration::of_hours(11));

    EXPECT_NE(find_session(human, id("ses_1"), kNow + kSessionLife - Duration{1}), nullptr);
    EXPECT_EQ(find_session(human, id("ses_1"), kNow + kSessionLife), nullptr);
}

TEST(SessionPolicy, EndsOnlyTheNamedSession) {
    Human human = open_session(open_session(Human{}, session("ses_1")), session("ses_2"));

    human = end_session(std::move(human), id("ses_1"));

    EXPECT_EQ(find_session(human, id("ses_1"), kNow), nullptr);
    EXPECT_NE(find_session(human, id("ses_2"), kNow), nullptr);
}

TEST(SessionPolicy, EndsAllOtherSessions) {
    Human human = open_session(open_session(Human{}, session("ses_1")), session("ses_2"));

    human = end_other_sessions(std::move(human), id("ses_1"));

    EXPECT_NE(find_session(human, id("ses_1"), kNow), nullptr);
    EXPECT_EQ(find_session(human, id("ses_2"), kNow), nullptr);
}

TEST(SessionPolicy, RefreshesTheProofOfOneSession) {
    Human human = open_session(open_session(Human{}, session("ses_1")), session("ses_2"));

    human = note_proof(std::move(human), id("ses_2"), kNow + Duration::of_hours(1));

    EXPECT_EQ(find_session(human, id("ses_1"), kNow)->authenticated_at, kNow);
    EXPECT_EQ(
        find_session(human, id("ses_2"), kNow)->authenticated_at, kNow + Duration::of_hours(1));
}

TEST(SessionPolicy, EndsASessionAtTheFifthWrongProof) {
    Human human = open_session(open_session(Human{}, session("ses_1")), session("ses_2"));
    for (int i = 0; i < 4; ++i) {
        human = note_failed_proof(std::move(human), id("ses_1"));
    }
    ASSERT_NE(find_session(human, id("ses_1"), kNow), nullptr);

    human = note_failed_proof(std::move(human), id("ses_1"));

    EXPECT_EQ(find_session(human, id("ses_1"), kNow), nullptr);
    EXPECT_NE(find_session(human, id("ses_2"), kNow), nullptr);
}

TEST(SessionPolicy, ForgetsWrongProofsAfterARightOne) {
    Human human = open_session(Human{}, session("ses_1"));
    for (int i = 0; i < 4; ++i) {
        human = note_failed_proof(std::move(human), id("ses_1"));
    }
    human = note_proof(std::move(human), id("ses_1"), kNow);

    human = note_failed_proof(std::move(human), id("ses_1"));

    EXPECT_NE(find_session(human, id("ses_1"), kNow), nullptr);
}

}  // namespace
}  // namespace interlock
