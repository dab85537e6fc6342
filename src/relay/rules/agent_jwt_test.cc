#include "relay/rules/agent_jwt.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/bytes.h"
#include "base/text.h"

namespace interlock {
namespace {

// Signed once with a throw-away key whose private half is gone: issuer https://issuer.example, key
// id k1, expiry 1750000300, audience agent:inst-1 unless the name says otherwise.
constexpr std::string_view kModulus =
    "sPmK_ItuYgFDzmNgcJThzOaYANSC1-PPdBv4cwZsJaKzdLPaK5LtTfXiZX26prq2rlyQcOw-ySmMMfkwtpFu1gUE"
    "rVAvP-3GpBjTLSMY6MijgdjVSzRHy-Jo0TJ6DJn32rzXfwMxuOf90yom6Q2vAjJuC-B-sIgloJY_D4PQLV7Zhb8B"
    "m2CXQZenfHhKM0a8htWkCqPMIZ3NtCzwRQztCf5zhGO3A7i16MZjCi15e41urYG10QEXi_wkFRBiy6yq1JJEPptn"
    "iJOqJ1f4CVSGyklUdSDM2ENfkE_ZZaXXErsJAxnd_rgH8YU826BqQNaVXuQRGAd-kEIi6sTX5kZRUw";
constexpr std::string_view kGoodToken =
    "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFt"
    "cGxlIiwiYXVkIjoiYWdlbnQ6aW5zdC0xIiwiZXhwIjoxNzUwMDAwMzAwLCJpYXQiOjE3NTAwMDAwMDAsInN1YiI6"
    "Imluc3QtMSJ9.bgnZ787mwoEGX8F0b3XwWGBwJb7Z_iRqeHglZZJW-rcZH1TPuaGR7plhmhkvroEXGlkRgZ0uVZ3"
    "lFC50Zj98UC8LA6fpGwztyLDuR5h224KtBk_K-6tXveqgCYeT6DsGjAoy7d-l5sxAWAztZdO71iwKSMvboKCMaYz"
    "ZpM0qEH7t6vt7BMhRecH2dcE1-uXqq_zdPjiiMx3YJecEdacez419uBvdw3A53L8SvrsXb31eLtINhZ96hoGuVq-"
    "b5hxDF-mKrTTfFRh5e-3D8R4hSgpqJntFM7DHbwn23nzaTgBYo7f-q_vJX_MUFD-cdSITORqppPNaoavJkB_Hjoc"
    "Frw";
constexpr std::string_view kAudListToken =
    "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFt"
    "cGxlIiwiYXVkIjpbIngiLCJhZ2VudDppbnN0LTEiXSwiZXhwIjoxNzUwMDAwMzAwLCJpYXQiOjE3NTAwMDAwMDAs"
    "InN1YiI6Imluc3QtMSJ9.FIuxkeIRdTJiYaoV33AbKyHkmNU7r0QELESjKlJaZUEF8sja9T6gCqyxpdmrNXzbXNb"
    "3f4dsfk3ZOiEzmOQVWSZOyW4Epog-bb135_ELIHxVlB4coThFqbKRO0EiOG9T_2PT7w9WTuwAg3dMdiIhQ5zBbQ0"
    "C0ctsvO11IoHJaHesQzibfcSUygzPAakzw6k1oerONqr6a9547RCnYgdckneLh8wsrpMrcl12n9iOj9qgXlhLGyk"
    "4S4QSo5uNM4RaIxQ217FkDIIUepRSUvMpvg4_6TVeXz5vZUkXFgiBX7dJrJY8hPQSVXCb9fKCqFvlQaX8kV1sEH5"
    "c9IaudfNYbg";
constexpr std::string_view kNoExpToken =
    "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFt"
    "cGxlIiwiYXVkIjoiYWdlbnQ6aW5zdC0xIiwiaWF0IjoxNzUwMDAwMDAwLCJzdWIiOiJpbnN0LTEifQ.QvOAEMgUm"
    "IoukSM5Q7R5mrcjZVhgfYE2wqm-OztJmlIZrtX4I45mJXpcu_ran9AyYI2USIUMpDJW0DVKDuBVyFGJi-epa85TY"
    "MtxlR7gsNziZfRxlvwIUgm-5ajOI72kWKM2nFJcO2Yn09ypr5P3A2wvMKlLN6eMgGhH71_M6iowbH4jChwklPN8m"
    "Zz58bHHlJd6Nvcje0KfpHjNLwpPXE4MTlwextvnpRjabOBQrqhmtwUoQL01kzfCeNwwDLBTDHCszawkFKcDlwGDw"
    "xxQMH8iHhg9nzYN88J8WDsH2soH4DAK0i1uxc_XSwlH7-DHjGGQOVsE5Dgov5JBHjtBqQ";
constexpr std::string_view kOtherAudToken =
    "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFt"
    "cGxlIiwiYXVkIjoiYWdlbnQ6aW5zdC0yIiwiZXhwIjoxNzUwMDAwMzAwLCJpYXQiOjE3NTAwMDAwMDAsInN1YiI6"
    "Imluc3QtMSJ9.IkeKyPb-CLxlZtqZ6fzCsJ-s4FdCSwrWMgdNU7Sxuykv_f_YT8jWRLcTyvoiVVMI-5KI4Q2_Zeo"
    "J4gDS1yutI8iYjZLvWo9NpGugEZLRGIdp9cZDmYK0dNNiuIc992Bv4l9yVbAG5XwRObM0w0liajBSOGWeQ06UFJm"
    "cq_bC4KRfIRobsLRXqJ4xD3fFGIzAzhenn8mJSDey73HvsGJKGbtZq1lWq7_gGJeB-8qbtHAseIaqCXanRFh9Cq7"
    "OTLpEiVkBRMqPUzEw2yl_VgGy1r875w3Q7TJ0sEmOWfskHb1v7UhgBZiS5dR3Oh5-5WyB-0hFX7bvoL17tyZmy7p"
    "eRg";
constexpr std::string_view kOtherIssToken =
    "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2V2aWwuZXhhbXBs"
    "ZSIsImF1ZCI6ImFnZW50Omluc3QtMSIsImV4cCI6MTc1MDAwMDMwMCwiaWF0IjoxNzUwMDAwMDAwLCJzdWIiOiJp"
    "bnN0LTEifQ.OccKPyHcQmkLubmqpUxrXgrXu2QtFV52sO47WDSLe5JREbHDJwRlil_Jr_Uign7cWty7wzIZblKYS"
    "keutOl5F7GzwWq7iEVN9MSvIG1Y9tsw9vxnZOM_aVX0foxlNNmRVfxWWQFlb8LBVAaVNygJh5KAqu36fLDdmMbf9"
    "bfSGIKEpbKwYmPhiL8K8Fy2oxGGVLVOKlUDYGBDJ-rf-lixVx8iCHEicDJZhdW2KmwQpJlfHKwx_-X9TCJjNxV4P"
    "kRm4km8U3wuKSg7lOdUOcDVjps0g94oJEsXBRZtTdTHbpsaIfeY3BdQXRwpGoZbdXWaLwrBSzbtuuNs7MafG5JXo"
    "Q";
constexpr std::string_view kHsAlgToken =
    "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoi"
    "YWdlbnQ6aW5zdC0xIiwiZXhwIjoxNzUwMDAwMzAwLCJpYXQiOjE3NTAwMDAwMDAsInN1YiI6Imluc3QtMSJ9.GkF"
    "nyb_1UrUk3HfxkA4SqLX2nv4ZvccSek8w4S6S4VxIhTRCE-fex_tvzhGe6WcJ0D8FO-Pfkz0q2X3kbNKUHFzvLtb"
    "Gr2JeFf5KNx0IpDzLkmg5ToeyL0nkBDZrHazJ0Oy3q5A7Mn1MctHJAK-nSuqKF_-k8uKIXNw5KHJ9WAHFwHI1_v9"
    "5Nze1khHINw3jWqd7Glwixqrm2sWR878UoUe0cI8iU-PgxH0CTgRbfQi4SYj7za-d2fy94eC5BvcCnPqbAOQMmzE"
    "NroD0e08UU00Gt19DxeqvLoOwneV3heHK_MuBKHAIlvZYZpPZSWgmAYN486PiuhktxMlnuZj_yw";
constexpr std::string_view kNoneAlgToken =
    "eyJhbGciOiJub25lIiwia2lkIjoiazEifQ.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoiY"
    "WdlbnQ6aW5zdC0xIiwiZXhwIjoxNzUwMDAwMzAwLCJpYXQiOjE3NTAwMDAwMDAsInN1YiI6Imluc3QtMSJ9.o6md"
    "OrlswCI3fk-Z9ti-mI1EywVWfYgQgyvd5_vtg9iT3rQsfQTAYDFTGOLVytfjztDToMHHRtar6l9q9RJMurpiYAM4"
    "8v9QuaH_Qm0H2UBjS7DyC5rCB2FGQJ7HGygYrx3ZiG24gRbVlhSYNTURyLUt2Gh9pxARop0tFIImifsezkXSVRXr"
    "MwGOEu0uyDcQiI53pPUXfYdXmb_jdgbdzp4AcgTZk8mjzwuz0htC2EomEUdlriqitlZcFODvjM90JzpFSNnYq_LO"
    "MyPBDloUcRr7Kx4BsAzSSPDz3PMQExTe3kG3dCCA9Sv1pai9S-HN479CTGd7uIWyKM4s1P_phA";
constexpr std::string_view kOtherKidToken =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsyIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoi"
    "YWdlbnQ6aW5zdC0xIiwiZXhwIjoxNzUwMDAwMzAwLCJpYXQiOjE3NTAwMDAwMDAsInN1YiI6Imluc3QtMSJ9.MNw"
    "6Oa3grLe3W1GkMVfJXYU1Mp4BVbF59SkEXTYroYR2cYy3KixQvlCnt1PePUFC0RgwxKhSpf6q59HtPS_lg2wk0kP"
    "evIYg5Vss9hri71gleOpVaMBd2ySz9FrI_12_Acs_9Rs1_RJaWxQiIIGrsxDwbeQsMXdydEqvMLDsEFcuzInALDL"
    "GniTq0sDwanGKr-SH_-Y0T3MgTKAwi7hDQp5dqXgIpgak9et8aY7RT8955zyvwiMaHpbveCz3lN-NRCMPZvKH3fN"
    "txpE_cOvWpU2Ee4HgdCrKjl7VXyPZkpx2wL63QpGv5mNQziiUWG62ppGmgqQHftC97mLlFDibaA";
constexpr std::string_view kNbfToken =
    "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFt"
    "cGxlIiwiYXVkIjoiYWdlbnQ6aW5zdC0xIiwiZXhwIjoxNzUwMDAwMzAwLCJpYXQiOjE3NTAwMDAwMDAsInN1YiI6"
    "Imluc3QtMSIsIm5iZiI6MTc1MDAwMDIwMH0.d18mu3pQmNp9AQpFgjDdrgj6YAnMVKcykd58xXHKwP6Xnm-2ppst"
    "awGDBs-ZIGjRbiNMlCe82pe08gkJdGXvmSi9aqcjSW4KgiXuSMBMbhhA_XlPc9zT7IdEGz090qwfmq63-RSI8aGD"
    "IaMUaC8TR6bAV48-kyU9LkvM13ECWVJ_Fgji28Orb9UMvEBFC99kZvcCg6FGKhCYXSe0tyAXAMTk4M7K9gEZbGNi"
    "b3iF0AjaGxyEZiNeFCuJYLp3YsLaq15tff6gtYmMCubGCH1l6jSP-_CT2xeuJ49jykYkLZTskV2n2-u91aQBc8Ek"
    "GLeT39n5HT1yT_vyxK3mTHP14w";
constexpr std::string_view kCritToken =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIiwiY3JpdCI6WyJ4Il19.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGF"
    "tcGxlIiwiYXVkIjoiYWdlbnQ6aW5zdC0xIiwiZXhwIjoxNzUwMDAwMzAwLCJpYXQiOjE3NTAwMDAwMDAsInN1YiI"
    "6Imluc3QtMSJ9.e6X4dbjHrgEtcSQLEnt_IK2TXngWl9c5OVJrg-gwO97V7-yfHhaEzDgK5Ho9ZtwXTKH5NGE-_q"
    "qkZLuJcaSDZfMs9G-tIfbpAvSrqaUKXPlkqLMhK539UnPsgyUHqwHmWHEUYgHkcdwEAWpLIOQaw0focZuymUzzkg"
    "v3iIMeJz3PN7UEF4Fv4oNJtxU2YM8Gs9tKRhWnPFKb_84sGowwbjXkT0iK-R38hOh1Bb6y2mBGm1_dKEW7FetoXl"
    "7gwBnBXf36xtABbEatdzuG3K30Av41Yx1oiHmRBykCFyk3-MHilb_VZ3TlKp10Z5yY4_PekWY7cvWYwa0tg445Bz"
    "OvNw";

constexpr std::int64_t kNow = 1750000000;
constexpr std::int64_t kExpiry = 1750000300;

JwtRules rules() {
    return {
        .issuer = "https://issuer.example",
        .audience = agent_audience("inst-1"),
        .keys = {{"k1", {*from_base64url(kModulus), *from_base64url("AQAB")}}},
        .now_seconds = kNow};
}

void expect_refused(std::string_view token, JwtProblem problem) {
    const auto claims = verify_jwt(token, rules());
    ASSERT_FALSE(claims.has_value());
    EXPECT_EQ(to_word(claims.error()), to_word(problem));
}

TEST(AgentJwt, GivesTheClaimsOfAGoodToken) {
    const auto claims = verify_jwt(kGoodToken, rules());
    ASSERT_TRUE(claims.has_value()) << to_word(claims.error());
    EXPECT_EQ(claims->find("sub")->as_string(), "inst-1");
}

TEST(AgentJwt, TakesOneOfSeveralAudiences) {
    EXPECT_TRUE(verify_jwt(kAudListToken, rules()).has_value());
}

TEST(AgentJwt, RefusesAnotherInstancesToken) {
    expect_refused(kOtherAudToken, JwtProblem::wrong_audience);
}

TEST(AgentJwt, RefusesAnotherIssuersToken) {
    expect_refused(kOtherIssToken, JwtProblem::wrong_issuer);
}

TEST(AgentJwt, RefusesAlgorithmsThatTheTokenChooses) {
    expect_refused(kHsAlgToken, JwtProblem::wrong_algorithm);
    expect_refused(kNoneAlgToken, JwtProblem::wrong_algorithm);
}

TEST(AgentJwt, RefusesExtensionsItDoesNotUnderstand) {
    expect_refused(kCritToken, JwtProblem::wrong_algorithm);
}

TEST(AgentJwt, RefusesAKeyThatTheIssuerDoesNotHave) {
    expect_refused(kOtherKidToken, JwtProblem::unknown_key);
}

TEST(AgentJwt, RefusesATokenThatNeverExpires) {
    expect_refused(kNoExpToken, JwtProblem::no_expiry);
}

TEST(AgentJwt, AllowsAMinuteOfSkewAndNoMore) {
    JwtRules late = rules();
    late.now_seconds = kExpiry + kJwtSkewSeconds;
    EXPECT_TRUE(verify_jwt(kGoodToken, late).has_value());
    late.now_seconds += 1;
    EXPECT_EQ(verify_jwt(kGoodToken, late).error(), JwtProblem::expired);
}

TEST(AgentJwt, RefusesATokenBeforeItsTime) {
    expect_refused(kNbfToken, JwtProblem::not_yet_valid);
}

TEST(AgentJwt, RefusesEverythingWithoutAConfiguredIssuerOrInstance) {
    JwtRules none = rules();
    none.issuer.clear();
    EXPECT_EQ(verify_jwt(kGoodToken, none).error(), JwtProblem::wrong_issuer);
    none = rules();
    none.audience = agent_audience("");
    EXPECT_EQ(verify_jwt(kGoodToken, none).error(), JwtProblem::wrong_audience);
}

TEST(AgentJwt, RefusesAnyChangedCharacter) {
    EXPECT_TRUE(rc::check([] {
        std::string token(kGoodToken);
        const auto at = *rc::gen::inRange<std::size_t>(0, token.size());
        token[at] = token[at] == 'A' ? 'B' : 'A';
        RC_ASSERT(!verify_jwt(token, rules()).has_value());
    }));
}

TEST(AgentJwt, RefusesWhatIsNoToken) {
    for (const std::string_view token : {"", ".", "..", "a.b", "a.b.c.d", "e30.e30."}) {
        EXPECT_FALSE(verify_jwt(token, rules()).has_value()) << token;
    }
    EXPECT_FALSE(verify_jwt(std::string(kJwtBytesMax + 1, 'a'), rules()).has_value());
}

TEST(AgentJwt, ReadsTheSigningKeysOfAKeySet) {
    const auto set = parse_json(
        R"({"keys":[{"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB","alg":"RS256","use":"sig"},)"
        R"({"kty":"EC","kid":"b"},{"kty":"RSA","kid":"c","n":"AQAB","e":"AQAB","use":"enc"},)"
        R"({"kty":"RSA","n":"AQAB","e":"AQAB"}]})");
    const auto keys = decode_jwks(*set);
    ASSERT_EQ(keys.value().size(), 1u);
    EXPECT_EQ(keys->front().kid, "a");
    EXPECT_FALSE(decode_jwks(Json::object()).has_value());
}

}  // namespace
}  // namespace interlock
