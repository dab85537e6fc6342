// Tests of money: assets must agree, and kinds must not mix.
#include "base/money.h"

#include <gtest/gtest.h>

#include "base/errors.h"

namespace interlock {
namespace {

const Asset kBtc = *Asset::parse("BTC");
const Asset kEth = *Asset::parse("ETH");
const Asset kUsdt = *Asset::parse("USDT");
const Decimal kAlmostAll = Decimal(100'000'000'000'000'000);

template <class A, class B>
concept Addable = requires(A a, B b) { add(a, b); };
static_assert(Addable<Quantity, Quantity>);
static_assert(!Addable<Quantity, Notional>);
static_assert(!Addable<Price, Price>);

TEST(Money, AssetCodesHaveUpToTwentyCapitalsAndDigits) {
    EXPECT_EQ(Asset::parse("1INCH")->text(), "1INCH");
    EXPECT_EQ(Asset::parse(std::string(20, 'A'))->text(), std::string(20, 'A'));
    for (const std::string& text :
         {std::string(),
          std::string(21, 'A'),
          std::string("btc"),
          std::string("B-C"),
          std::string("B C"),
          std::string("B\0C", 3),
          std::string("\xC3\x84")}) {
        EXPECT_FALSE(Asset::parse(text).has_value()) << text;
    }
}

TEST(Money, AssetsAreOrderedByTheirText) {
    EXPECT_LT(kBtc, kEth);
    EXPECT_LT(*Asset::parse("BT"), kBtc);
    EXPECT_EQ(kBtc, *Asset::parse("BTC"));
}

TEST(Money, SameAssetsAddAndSubtract) {
    const Quantity one{Decimal(1), kBtc};
    const Quantity two{Decimal(2), kBtc};
    EXPECT_EQ(add(one, two)->amount, Decimal(3));
    EXPECT_EQ(subtract(one, two)->amount, Decimal(-1));
    EXPECT_EQ(add(one, two)->asset, kBtc);
    EXPECT_EQ(add(Notional{Decimal(1), kUsdt}, Notional{Decimal(2), kUsdt})->amount, Decimal(3));
    EXPECT_EQ(
        subtract(Notional{Decimal(1), kUsdt}, Notional{Decimal(2), kUsdt})->amount, Decimal(-1));
}

TEST(Money, DifferentAssetsDoNotMix) {
    const auto sum = add(Quantity{Decimal(1), kBtc}, Quantity{Decimal(1), kEth});
    ASSERT_FALSE(sum.has_value());
    EXPECT_EQ(sum.error(), errors::asset_mismatch);
    EXPECT_NE(sum.error().message.find("BTC and ETH"), std::string::npos);
    EXPECT_FALSE(subtract(Notional{Decimal(1), kBtc}, Notional{Decimal(1), kUsdt}).has_value());
}

TEST(Money, PriceTimesQuantityIsANotionalInTheQuoteAsset) {
    const Price price{*Decimal::parse("25000.1"), kBtc, kUsdt};
    const Quantity quantity{*Decimal::parse("0.5"), kBtc};
    const auto notional = multiply_round_down(price, quantity);
    ASSERT_TRUE(notional.has_value());
    EXPECT_EQ(to_text(notional->amount), "12500.05");
    EXPECT_EQ(notional->asset, kUsdt);
}

TEST(Money, TheRoundingIsTheOneInTheName) {
    const Price price{Decimal::from_units(1), kBtc, kUsdt};
    const Quantity quantity{*Decimal::parse("0.5"), kBtc};
    EXPECT_EQ(multiply_round_down(price, quantity)->amount.units(), 0);
    EXPECT_EQ(multiply_round_up(price, quantity)->amount.units(), 1);
}

TEST(Money, APriceOfAnotherAssetDoesNotApply) {
    const Price price{Decimal(10), kBtc, kUsdt};
    const auto notional = multiply_round_up(price, Quantity{Decimal(1), kUsdt});
    ASSERT_FALSE(notional.has_value());
    EXPECT_EQ(notional.error(), errors::asset_mismatch);
}

TEST(Money, OverflowIsAnError) {
    const Price price{kAlmostAll, kBtc, kUsdt};
    const auto notional = multiply_round_down(price, Quantity{kAlmostAll, kBtc});
    ASSERT_FALSE(notional.has_value());
    EXPECT_EQ(notional.error(), errors::out_of_range);
}

TEST(Money, ComparisonNeedsTheSameAssets) {
    EXPECT_EQ(
        compare(Quantity{Decimal(1), kBtc}, Quantity{Decimal(2), kBtc}),
        std::strong_ordering::less);
    EXPECT_EQ(
        compare(Notional{Decimal(2), kBtc}, Notional{Decimal(2), kBtc}),
        std::strong_ordering::equal);
    EXPECT_EQ(
        compare(Price{Decimal(3), kBtc, kUsdt}, Price{Decimal(2), kBtc, kUsdt}),
        std::strong_ordering::greater);
    EXPECT_FALSE(compare(Quantity{Decimal(1), kBtc}, Quantity{Decimal(1), kEth}).has_value());
    EXPECT_FALSE(
        compare(Price{Decimal(1), kBtc, kUsdt}, Price{Decimal(1), kBtc, kEth}).has_value());
    EXPECT_FALSE(
        compare(Price{Decimal(1), kBtc, kUsdt}, Price{Decimal(1), kEth, kUsdt}).has_value());
}

}  // namespace
}  // namespace interlock
