#include "relay/rules/session_key.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(SessionKey, KeepsTheUsersOfAGroupApartUnlessToldOtherwise) {
    SessionSource source;
    source.platform = "discord";
    source.chat_type = "group";
    source.chat_id = "C";
    source.user_id = "U";
    EXPECT_EQ(build_session_key(source), "agent:main:discord:group:C:U");
    EXPECT_EQ(
        build_session_key(source, {.group_sessions_per_user = false, .profile = {}}),
        "agent:main:discord:group:C");
}

TEST(SessionKey, AWhatsappAddressWithoutANumberStaysAsItIs) {
    SessionSource source;
    source.platform = "whatsapp";
    source.chat_type = "dm";
    source.chat_id = "@s.whatsapp.net";
    EXPECT_EQ(build_session_key(source), "agent:main:whatsapp:dm:@s.whatsapp.net");
    source.chat_id = "+15551234567:3@s.whatsapp.net";
    EXPECT_EQ(build_session_key(source), "agent:main:whatsapp:dm:15551234567");
}

TEST(SessionKey, NamesAnInteractionAsEachRevisionReadsIt) {
    SessionSource source;
    source.platform = "discord";
    source.chat_type = "thread";
    source.chat_id = "T";
    source.thread_id = "T";
    source.user_id = "U";
    EXPECT_EQ(
        interaction_keys(source),
        (std::vector<std::string>{
            "agent:main:discord:thread:T:T",
            "agent:main:discord:group:T:U",
            "agent:main:relay:channel:T:U"}));
    source.chat_type = "group";
    source.thread_id.clear();
    EXPECT_EQ(interaction_keys(source).size(), 2u);
}

}  // namespace
}  // namespace interlock
