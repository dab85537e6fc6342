#include "loop/rules/order_identity.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

Intent intent() {
    Intent made;
    made.intent_id = IntentId::trusted("i0");
    made.symbol = Symbol::parse("BTCUSDT").value();
    made.side = Side::buy;
    made.qty = Decimal::parse("0.5").value();
    made.limit_price = Decimal::parse("60000").value();
    return made;
}

const DecisionId kDecision = DecisionId::trusted("d1");

// Computed apart with Python: base64.b32encode(hashlib.sha256(b"ocid.v1\x1fd1\x1fi0…").digest()).
TEST(OrderIdentity, IsTheFormulaOfS10) {
    EXPECT_EQ(
        derive_order_client_id(kDecision, intent()).text(), "hcvpj25abwtewq7gzgodk5qsbz63q6ty");
}

TEST(OrderIdentity, WritesAMarketOrdersPriceAsADash) {
    Intent market = intent();
    market.order_type = OrderType::market;
    market.limit_price.reset();
    EXPECT_EQ(derive_order_client_id(kDecision, market).text(), "hui66b2rwggvkp4emewqc464s367cy46");
}

TEST(OrderIdentity, DoesNotDependOnHowADecimalWasWritten) {
    Intent other = intent();
    other.qty = Decimal::parse("0.500").value();
    EXPECT_EQ(
        derive_order_client_id(kDecision, other), derive_order_client_id(kDecision, intent()));
}

TEST(OrderIdentity, ChangesWithEveryPart) {
    const OrderClientId base = derive_order_client_id(kDecision, intent());
    Intent other = intent();
    other.side = Side::sell;
    EXPECT_NE(derive_order_client_id(kDecision, other), base);
    other = intent();
    other.intent_id = IntentId::trusted("i1");
    EXPECT_NE(derive_order_client_id(kDecision, other), base);
    other = intent();
    other.limit_price = Decimal(60001);
    EXPECT_NE(derive_order_client_id(kDecision, other), base);
    EXPECT_NE(derive_order_client_id(DecisionId::trusted("d2"), intent()), base);
}

}  // namespace
}  // namespace interlock
