#include "host/rules/exchange_key_policy.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

namespace interlock {
namespace {

constexpr Timestamp kNow{1'800'000'000'000'000};

KeyVerdict judged(const KeyPermissions& permissions) {
    return judge_key(permissions, kNow);
}

// The good key with one permission turned around.
KeyPermissions with(bool KeyPermissions::* member, bool value) {
    KeyPermissions permissions = good_spot_permissions();
    permissions.*member = value;
    return permissions;
}

TEST(ExchangeKeyPolicy, TakesAKeyThatReadsAndTradesSpotOnly) {
    EXPECT_EQ(judged(good_spot_permissions()), (KeyVerdict{KeyStanding::good, {}, {}}));
}

TEST(ExchangeKeyPolicy, RefusesEachPermissionThatIsTooMuchOrMissing) {
    const std::tuple<bool KeyPermissions::*, bool, KeyFault> cases[] = {
        {&KeyPermissions::can_read, false, KeyFault::cannot_read},
        {&KeyPermissions::can_trade_spot, false, KeyFault::cannot_trade_spot},
        {&KeyPermissions::can_withdraw, true, KeyFault::can_withdraw},
        {&KeyPermissions::can_transfer_internal, true, KeyFault::can_transfer_internal},
        {&KeyPermissions::can_transfer_universal, true, KeyFault::can_transfer_universal},
        {&KeyPermissions::can_margin, true, KeyFault::can_margin},
        {&KeyPermissions::can_futures, true, KeyFault::can_futures},
        {&KeyPermissions::can_options, true, KeyFault::can_options},
        {&KeyPermissions::can_portfolio_margin, true, KeyFault::can_portfolio_margin}};
    for (const auto& [member, value, fault] : cases) {
        EXPECT_EQ(judged(with(member, value)), (KeyVerdict{KeyStanding::refused, {fault}, {}}))
            << to_word(fault);
    }
}

TEST(ExchangeKeyPolicy, NamesEveryFaultAtOnce) {
    KeyPermissions permissions = with(&KeyPermissions::can_withdraw, true);
    permissions.can_futures = true;
    EXPECT_EQ(
        judged(permissions).faults,
        (std::vector<KeyFault>{KeyFault::can_withdraw, KeyFault::can_futures}));
}

TEST(ExchangeKeyPolicy, WarnsWithoutAnIpRestriction) {
    EXPECT_EQ(
        judged(with(&KeyPermissions::is_ip_restricted, false)),
        (KeyVerdict{KeyStanding::good, {}, {KeyWarning::no_ip_restriction}}));
}

TEST(ExchangeKeyPolicy, WarnsOfAnExpiryNearerThanSevenDays) {
    KeyPermissions permissions = good_spot_permissions();
    permissions.expires_at = kNow + kExpiryWarning;
    EXPECT_TRUE(judged(permissions).warnings.empty());
    permissions.expires_at = kNow + kExpiryWarning - Duration{1};
    EXPECT_EQ(judged(permissions).warnings, std::vector{KeyWarning::expires_soon});
    EXPECT_EQ(judged(permissions).standing, KeyStanding::good);
}

TEST(ExchangeKeyPolicy, RefusesAKeyFromTheMomentItExpires) {
    KeyPermissions permissions = good_spot_permissions();
    permissions.expires_at = kNow + Duration{1};
    EXPECT_EQ(judged(permissions).standing, KeyStanding::good);
    permissions.expires_at = kNow;
    EXPECT_EQ(judged(permissions), (KeyVerdict{KeyStanding::refused, {KeyFault::expired}, {}}));
}

TEST(ExchangeKeyPolicy, WhatTheVenueDidNotSayIsUnverified) {
    EXPECT_EQ(judge_key(std::nullopt, kNow), (KeyVerdict{KeyStanding::unverified, {}, {}}));
}

// What cannot be verified: live refused, paper allowed.
TEST(ExchangeKeyPolicy, AnUnverifiedKeyIsUsedOnPaperOnly) {
    const KeyVerdict unverified = judge_key(std::nullopt, kNow);
    EXPECT_TRUE(may_use_key(unverified, "paper"));
    EXPECT_FALSE(may_use_key(unverified, "binance"));
}

TEST(ExchangeKeyPolicy, ARefusedKeyIsUsedNowhere) {
    const KeyVerdict refused = judged(with(&KeyPermissions::can_withdraw, true));
    EXPECT_FALSE(may_use_key(refused, "paper"));
    EXPECT_FALSE(may_use_key(refused, "binance"));
}

TEST(ExchangeKeyPolicy, EveryFaultHasAWordOfItsOwn) {
    std::set<std::string_view> words;
    for (const KeyFault fault : all_key_faults()) {
        words.insert(to_word(fault));
        EXPECT_FALSE(sentence_of(fault).empty());
    }
    EXPECT_EQ(words.size(), 10u);
}

// Whatever else is on or off, a key that can move money away or borrow is never good.
TEST(ExchangeKeyPolicy, NoCombinationMakesADangerousKeyGood) {
    EXPECT_TRUE(rc::check("dangerous keys", [] {
        KeyPermissions permissions;
        permissions.can_read = *rc::gen::arbitrary<bool>();
        permissions.can_trade_spot = *rc::gen::arbitrary<bool>();
        permissions.is_ip_restricted = *rc::gen::arbitrary<bool>();
        bool KeyPermissions::* const dangerous[] = {
            &KeyPermissions::can_withdraw,
            &KeyPermissions::can_transfer_internal,
            &KeyPermissions::can_transfer_universal,
            &KeyPermissions::can_margin,
            &KeyPermissions::can_futures,
            &KeyPermissions::can_options,
            &KeyPermissions::can_portfolio_margin};
        bool any = false;
        for (const auto member : dangerous) {
            permissions.*member = *rc::gen::arbitrary<bool>();
            any = any || permissions.*member;
        }
        const bool good = judged(permissions).standing == KeyStanding::good;
        RC_ASSERT((good == (!any && permissions.can_read && permissions.can_trade_spot)));
    }));
}

}  // namespace
}  // namespace interlock
