#include "relay/service/relay_person.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(PersonWord, IsTheWholeWordWithWhatFollowsIt) {
    const auto link = read_person_word("/link  abc-123 ");
    ASSERT_TRUE(link);
    EXPECT_EQ(link->kind, PersonWordKind::link);
    EXPECT_EQ(link->argument, "abc-123");
    EXPECT_EQ(read_person_word("/link")->argument, "");
    EXPECT_EQ(read_person_word("/unlink 2")->kind, PersonWordKind::unlink);
    EXPECT_EQ(read_person_word("/whoami")->kind, PersonWordKind::whoami);
    EXPECT_EQ(read_person_word("/default\n2")->argument, "2");
    EXPECT_EQ(read_person_word("/link@our_bot CODE")->argument, "CODE");
    for (const char* const other :
         {"/linked abc", "link abc", " /link abc", "/Link abc", "/who ami", "", "/"}) {
        EXPECT_FALSE(read_person_word(other)) << other;
    }
}

TEST(PersonWord, CutsAnArgumentThatIsTooLong) {
    const auto word = read_person_word("/link " + std::string(1000, 'x'));
    ASSERT_TRUE(word);
    EXPECT_EQ(word->argument.size(), kPersonArgumentBytesMax);
}

TEST(WayIn, SaysWhatToDoWhereverHeIs) {
    Encounter met;
    met.user_id = "4242";
    met.discriminator = "-1001";
    met.is_dm = true;
    EXPECT_NE(way_in(met).find("/link CODE"), std::string::npos);
    EXPECT_NE(way_in(met).find("4242"), std::string::npos);
    met.is_dm = false;
    EXPECT_NE(way_in(met).find("-1001"), std::string::npos);
    met.tenant_id = TenantId::trusted("acme");
    EXPECT_NE(way_in(met).find("direct message"), std::string::npos);
}

}  // namespace
}  // namespace interlock
