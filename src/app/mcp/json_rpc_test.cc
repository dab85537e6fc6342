#include "app/mcp/json_rpc.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace interlock {
namespace {

RpcRefusal refusal_of(std::string_view text) {
    const auto decoded = decode_rpc(text);
    EXPECT_FALSE(decoded) << text;
    return decoded ? RpcRefusal{} : decoded.error();
}

TEST(JsonRpc, ReadsRequestsWithTextAndIntegerIds) {
    const auto text_id = decode_rpc(R"({"jsonrpc":"2.0","id":"a","method":"ping"})");
    ASSERT_TRUE(text_id);
    EXPECT_EQ(std::get<RpcRequest>(*text_id).id, Json("a"));

    const auto number_id =
        decode_rpc(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}})");
    ASSERT_TRUE(number_id);
    const auto& request = std::get<RpcRequest>(*number_id);
    EXPECT_EQ(request.id, Json(7));
    EXPECT_EQ(request.method, "tools/call");
    EXPECT_EQ(*request.params.find("name"), Json("x"));
}

TEST(JsonRpc, AMethodWithoutIdIsANotification) {
    const auto decoded = decode_rpc(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    ASSERT_TRUE(decoded);
    EXPECT_EQ(std::get<RpcNotification>(*decoded).method, "notifications/initialized");
}

TEST(JsonRpc, ReadsResultsAndErrors) {
    const auto result = decode_rpc(R"({"jsonrpc":"2.0","id":1,"result":{"a":1}})");
    ASSERT_TRUE(result);
    EXPECT_EQ(*std::get<RpcResponse>(*result).outcome, Json::object({{"a", 1}}));

    const auto error =
        decode_rpc(R"({"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data":5}})");
    ASSERT_TRUE(error);
    EXPECT_EQ(std::get<RpcResponse>(*error).outcome.error(), (RpcError{-1, "no", Json(5)}));
}

TEST(JsonRpc, AnErrorMayHaveNoId) {
    const auto decoded =
        decode_rpc(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}})");
    ASSERT_TRUE(decoded);
    EXPECT_TRUE(std::get<RpcResponse>(*decoded).id.is_null());
}

TEST(JsonRpc, RefusesBatches) {
    const RpcRefusal refusal = refusal_of(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])");
    EXPECT_EQ(refusal.error.code, kRpcInvalidRequest);
    EXPECT_TRUE(refusal.id.is_null());
}

TEST(JsonRpc, RefusesWhatIsNoJson) {
    EXPECT_EQ(refusal_of("{").error.code, kRpcParseError);
    EXPECT_EQ(refusal_of("").error.code, kRpcParseError);
    EXPECT_EQ(refusal_of(R"({"id":1,"id":2})").error.code, kRpcParseError);
}

TEST(JsonRpc, RefusesIdsThatAreNeitherTextNorInteger) {
    for (const char* id : {"null", "1.5", "true", "[]", "{}", "1e3", "99999999999999999999"}) {
        const std::string text =
            std::string(R"({"jsonrpc":"2.0","method":"ping","id":)") + id + "}";
        EXPECT_EQ(refusal_of(text).error.code, kRpcInvalidRequest) << id;
    }
}

TEST(JsonRpc, KeepsTheIdOfAMessageThatIsWrongElsewhere) {
    const RpcRefusal bad_params =
        refusal_of(R"({"jsonrpc":"2.0","id":9,"method":"ping","params":[1]})");
    EXPECT_EQ(bad_params.error.code, kRpcInvalidParams);
    EXPECT_EQ(bad_params.id, Json(9));

    const RpcRefusal bad_version = refusal_of(R"({"jsonrpc":"1.0","id":9,"method":"ping"})");
    EXPECT_EQ(bad_version.error.code, kRpcInvalidRequest);
    EXPECT_EQ(bad_version.id, Json(9));
}

TEST(JsonRpc, RefusesResponsesThatSayTwoThingsOrNothing) {
    for (const char* text :
         {R"({"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}})",
          R"({"jsonrpc":"2.0","id":1})",
          R"({"jsonrpc":"2.0","id":1,"result":5})",
          R"({"jsonrpc":"2.0","result":{}})",
          R"({"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"m"}})",
          R"({"jsonrpc":"2.0","id":1,"error":7})"}) {
        EXPECT_EQ(refusal_of(text).error.code, kRpcInvalidRequest) << text;
    }
}

TEST(JsonRpc, RequestsSurviveEncodingAndDecoding) {
    EXPECT_TRUE(rc::check([](std::int64_t number, bool is_text) {
        const Json id = is_text ? Json(std::to_string(number)) : Json(number);
        const RpcRequest sent{id, "tools/call", Json::object({{"n", number}})};
        const auto decoded = decode_rpc(to_text(encode(sent)));
        RC_ASSERT(decoded.has_value());
        const auto& received = std::get<RpcRequest>(*decoded);
        RC_ASSERT(received.id == sent.id);
        RC_ASSERT(received.method == sent.method);
        RC_ASSERT(received.params == sent.params);
    }));
}

TEST(JsonRpc, NeverFailsToAnswerAnyBytes) {
    EXPECT_TRUE(rc::check([](const std::string& bytes) {
        const auto decoded = decode_rpc(bytes);
        RC_ASSERT((decoded.has_value() || decoded.error().error.code < 0));
    }));
}

TEST(JsonRpc, LeavesOutNullErrorData) {
    const Json json = encode(RpcResponse{Json(1), rpc_fail(-32601, "no such method")});
    EXPECT_EQ(
        to_text(json),
        R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}})");
}

}  // namespace
}  // namespace interlock
