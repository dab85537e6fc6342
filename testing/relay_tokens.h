// Tokens of an identity provider for tests, signed once with throw-away keys whose private halves
// are gone. Issuer https://id.example, audience "relay" or "agent:inst-1", claim "tenant"; good for
// an hour from FakeClock::kNoon unless the name says otherwise. Signed with k1, or with k2 where
// the name speaks of a second key.
#pragma once

#include <string_view>

#include "base/json.h"

namespace interlock {

inline constexpr std::string_view kModulus1 =
    "s8Nhp80uD0uicgAqEVbOXO19HgTqIV7Suvg5kyh5mDE82jnYh0B6jnP6-hv9qaEvS_Y2E0JMurd5myb-oSNBSEFq"
    "95p6Zz2aPXWnqdnmF7aV_cK-HfBhKGa-9EsWysXSggkKrbn-Kf-C1tZ8EzsCCpIBKvzXvWsUd7H9LFP4mQL0RZ-K"
    "sF_hBt1fEJnjvhhdiPUnd5yjF6dPiZ_LZQZjV-M2AwP1WmXjUJ1TP9h_96FfQdBUdOhQ2nsrwtob-1sN7qny2hVP"
    "tbAlTU5TCY4ZUeuoC-GG4yT_hnh2_WMCsZ2IoFlp6EcwwDyRyVTThfdfKYIrq7GX_Q0iTT7pswsJUQ";
inline constexpr std::string_view kModulus2 =
    "rn2sKfUTYrh1XkQMSVU4fxzMJ_kugtwTIOX5DbsaxEN0bNUliLbI0Hcy3zoi6E5qWhKnmGKwWEfzTxrE6iG5iKth"
    "Lf_Aa_Z2Cdc4gtknA7jzYObf8Nx7SCNma86j_0cXe9M7_FnTvXwdmGgC2Xd1jjT30qg5ZvTSPwe5S3yeQ9jKu2AT"
    "Zo2dHjEnGaFs1cCIcmZh-XEEQdNN29IEuyMMHa8kpxndzVrQFvfSc7jcbZ7r_RYn81Ei6ttWQDaCkpHaXt4eX0H5"
    "c1Ti_Sl748_1wO95eXZB7cItROesWRyK3Fbv1Kr-IQVsCmlEHVXXH0Ja0P38ZRytjcZWqHCBcBZKew";
inline constexpr std::string_view kAcmeBearer =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJyZWxh"
    "eSIsImV4cCI6MTc5NDc0NzYwMCwidGVuYW50IjoiYWNtZSJ9.WbRwgOhpcm_Z3aWwJTvl0YV5Kc4uH9AK345diBp"
    "ALWWXltKPA-R3OsWVfeqJs5QSQjBXrn9O6xBSDcbEJ2Uy1euvawmGqb4Jn4KcQLGoFWRF70m5LgxFPbw3SeQeahU"
    "GNoLJEl00jvV-jsAPeh0O16cr7Zi13X4YtTN39KtnyJgLtmERCpPzacgGqNxJoZ2qNc21akM4djTKMW517po9dXv"
    "DLY6t_inN7coOy2cdwSrTOt2TSp9bOcP7t4uyk0gt1gKH0biN3HP7sOgiCEtDes-3feYrNN2kUzsECiyK0dISFEz"
    "Pbl6TdaQyc3jB8cjjZRF_whxTc3FTUges3d4uWg";
inline constexpr std::string_view kGlobexBearer =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJyZWxh"
    "eSIsImV4cCI6MTc5NDc0NzYwMCwidGVuYW50IjoiZ2xvYmV4In0.NWgJMjmdAnSjQHXga8_1LkVL0R9AQNgrvnt7"
    "nan88pJL28t4igKZHjF2CyFBzULTSwUaDMgO_t40B9kL00_ZJG8p7gjLmAdAneaQc91DaGa4aebVCsf23PhEW6yg"
    "R4mHgVTsNRfIcRx0e-AkdRtkhM5jJMcNKAJP6zT0chexpL-9vV9ml3wratgl_cBr_E64ZAXxWdGSqpuy7wfSwcLA"
    "kkopkltAxAeI6Lh6tmpra3aViWl9azwsLo-Z9LSwFhScbNp3c6svExjAlVqhBBCgr7JtzNj4zeMH0boeJismpRSM"
    "dQDG7VtFbG-Z4fx4WxWzESWxeZGcW1JwKNsp0aIt0g";
inline constexpr std::string_view kExpiredBearer =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJyZWxh"
    "eSIsImV4cCI6MTc5NDc0MDQwMCwidGVuYW50IjoiYWNtZSJ9.k2ixpn9pdIUQbtdDwYYXtxmTVXPMoLYGOQvenTq"
    "2dB0BhPWRZ7gxfohMOdV3nuwJ_bZ_jEPfi7RkKbAm9AoH9mkBqhp7_eS0RCYiEvMI69byM1YSKWwTbxNvyj4mXZ0"
    "zBA0Kjq7UWBvfBwA5Xbyx2I9AKQAwg24icH9EK3ItlTSb23NVRJwBrTvOjnTd-KBGAn-NrL59FAGFCUksn7eYTWr"
    "MiPIJ2aVMtmVEQeG1l8RAhwAWQ16ydpDlM4zRx8ftygZgnIJ2TVQuHLTAv4x_y8hAzHm48mCZzG8ZOPjZevr9WmE"
    "nZwYuVG_yrwHS2b4A_GUX2Jyktt8fohLYydKGWw";
inline constexpr std::string_view kOtherAudienceBearer =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJzaG9w"
    "IiwiZXhwIjoxNzk0NzQ3NjAwLCJ0ZW5hbnQiOiJhY21lIn0.LXyST0Y637EcYsALHojLtwz_hE2FjrRPXwXzNRRU"
    "PIY5EFMGJ42LHgfe_K_8zeuz8zp9W49ixDtco75HKodu_jrndRyrLIWM3iHVk_c_EFV0ItZh7rvXwqnz7YtNtOYD"
    "K9yvLGyzrZffH6FuDT9BX3O7SPkQB7v-gxVTby6asQ2nP7OSEznHeoKwBDFHmAp0k8P7Fyem0zTkvgwzO1CKN3q0"
    "m3anCsJkWNoq_UDiHGCt6_tU_HxZ7HijgLwqvPclQcJHivKVqYMxSBGDPoAK92_Za1ZERhyTeRSW50nAL9rX69F_"
    "TIB8gWJss9N-bk3ye65u-plkPkibdVofa3e-rw";
inline constexpr std::string_view kOtherIssuerBearer =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2V2aWwuZXhhbXBsZSIsImF1ZCI6InJl"
    "bGF5IiwiZXhwIjoxNzk0NzQ3NjAwLCJ0ZW5hbnQiOiJhY21lIn0.Cy4V9UcWxB2xurdK_8akYBhzKbjav0HAYZu7"
    "xSHUeBBooQD8YkpMGQCfSY0RVhaxWfHUPW5pxNJZHxPfBnaiN6KzgvAv0PLProPHWFM3UeCzbMvicJ6aknR8kJ0R"
    "ikWqn6MzdLUbh5MTg8g6kEJERoCi4ohQ0KPfEBtiIQ0Mq4fMdDinkWN3NNH5rR7OYW9Ewx83lTp2DOvipV9tlRGx"
    "_zpKgr4kwFkYAbICJb9TsT351mXcI_uC4ip94WheVh-5RgcUpioB7rKVFDlRMiY7uBpggQxKfk57CT0RDYE1LRKn"
    "gK8vD6RtAcH9ndIl-3arngAlQn2gcKpeJ2tcIOi0YQ";
inline constexpr std::string_view kSecondKeyBearer =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsyIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJyZWxh"
    "eSIsImV4cCI6MTc5NDc0NzYwMCwidGVuYW50IjoiYWNtZSJ9.a4rSQZnXSU7KjIo-ZTySzE6Ds7aaIQiOJeB_frx"
    "zNRyPITD85wxxhtTpaZY4BdsCw7HMuJnm49bkDinA4ibqwM8cCif_qTEelqQoaN7oW1041guRYKR1N_eJnxLj_DA"
    "9CQwgcEbMgo0lDSWM9pPdmYkMVIOoJG_Xv9BoCLyObPPeGPgbpJhm2mFNEr1AiJhkdIJKJ34GZbiqgj1xlKkqxVr"
    "XdnK0oRa38mREgCppFMcsUHJsD458_uOvZYG3_oAE1gBL35QLue12X4nA1IdzVXogTuEn9EGlJgpnu-Yq41B8ng5"
    "hGTkpoGEp_kyzNpRh2DPOPkPVAWdV5gXPxlfxLw";
inline constexpr std::string_view kNoTenantBearer =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJyZWxh"
    "eSIsImV4cCI6MTc5NDc0NzYwMH0.bfqCIB-T59LLTjbue5U_r_q-5lPE742F8v_yfacy64ybHN4SXUAAyaFUVv5m"
    "R6jbNQE88wC5ozEVGvtVr8uMBVnhg1Z37hEASaV83NBgJuEYLFhkuObAQVV7kYp5gMT9Y9cr-ZVmOcXGssLx2HC4"
    "R4xnx4rbyVOLhdFYOUP5aPlwo-qxXHUvjhB8TKYvPATjNPiQk8ZsybcjRrNfwr6olCBW4V1Uc_4ziDFAbxjLusEz"
    "PTmnFStc-7ugsSaqX9Qg0mJdjqAHoDpeIZyErUfE75P6GtcTRZ8dQxsaxIj1eDJ7l3UV25Ybj0Ia68R3_DkIuNl5"
    "jQjKXq_jgFvLF1ZvUA";
inline constexpr std::string_view kAgentToken =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJhZ2Vu"
    "dDppbnN0LTEiLCJleHAiOjE3OTQ3NDc2MDAsInRlbmFudCI6ImFjbWUifQ.bXJrn7VaQXGoHR2qJ4Ef6rpAhfNkE"
    "3L5mOMQH-CouYsBVyYjbCQUrNRWUTNAxLRRdt69EXmY8NlsCJUJK8Jp90uCGvcNBemb-nljvc-Ia9CUHKfokISCx"
    "tybrmuEo9ydrFDm2L_7CAPw0cBjumMcxcbp5bo1m6HAR6TJVBCkDIMdNx6Hnr7ebObujofh6IoIvR_ooOeDCf17a"
    "sDDDfNszgKXYvMtZzBqWUOt6mlWZh2YViQh-2MqAJwMnODx2JHj6FdMalZ4UfgmBzJZjsCr28KY5uX3q6HdThsJI"
    "b4-4iKhk8uZzKjxb-1cN5iSdWgVtIMg9nFG2yU-Q_jEmQcjgw";
inline constexpr std::string_view kExpiredAgentToken =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJhZ2Vu"
    "dDppbnN0LTEiLCJleHAiOjE3OTQ3NDA0MDAsInRlbmFudCI6ImFjbWUifQ.DSH1MclFVAgj72dYgZ2K5D35XAMdf"
    "ve9z7zvTx3lESt0seQVeSISEwzntGJXnwbIDPExL8B-m5__-e-PS49sJ4cy9A_uPTKT19bRoNFWeW6XQEhMa77Wp"
    "TZ12FK86jyBK0cZF-vGocdpFnMm8rrKoR6GxKhAbz7Wpxn22YUu_GqRllepMdNC5snzCoFa5uKFYv9gODXLYtX6X"
    "lraR3oLxjIb35As7QUQgHF4E64uH9X4QYZv7WZNSeoPoUYkXs2d5Np2iL92N-0P0Lb1Z6Qy3857GBWTltC51B8lX"
    "6bJpyIZrkKkijk3W8ZqvWxv8uAvz-VFCxGiof9mBUHVpWcVHw";
inline constexpr std::string_view kForeignAgentToken =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJhZ2Vu"
    "dDppbnN0LTEiLCJleHAiOjE3OTQ3NDc2MDAsInRlbmFudCI6Imdsb2JleCJ9.jB6vqDZ09BEA2uHd02V__WulJnX"
    "9kuuyK96gjwE-UZWt0k-Mw4rCV9WtCkruVLRICglBQnE_w39Wp4h8ePC4AEoyq-iv8vDUDaVSY46nnTGtnC89rFH"
    "Eo4xu7HycPVeW7aOvOlrN9RfTm5I8uuUSEGMnYRO2gJJLU9J-2tssrKoBLHR4zRrzccCnDoUdt_8vQWDrF1ml-FN"
    "DygqAzK08IlgvYgqhqAq6awqBXOC_Hetp28DWgBxQqAG5tHOTYiRBgDqzxCdBz6MjF8gISPGDmwQ0GZfbrd3Jbhv"
    "eNn8Asy7wr5NF3hTL7oNZtFmokD3dleJCImHQwmzmhuycD1xaTQ";
inline constexpr std::string_view kSecondKeyAgentToken =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsyIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJhZ2Vu"
    "dDppbnN0LTEiLCJleHAiOjE3OTQ3NDc2MDAsInRlbmFudCI6ImFjbWUifQ.JEzY7qYfSeW0fEsBx7t0xnz-FfYbV"
    "ujIhkHOwfwvvQrDvKBpLUWWt_fjVAnoM9QE8JAav6to_-DwLhlQLQl08SaL_wc8Z1LkEk458oJeJz5LWVh_W04ER"
    "2EZx8BRJmoUiQ1BLQXHxB0OOX9jFmn7Lxox0Wx6tQJ_O03TrEyUcHRRlHwFl1NL9ourKYW37vrFBs49kSF8xzP8L"
    "KWYuNzEn_43hLmRQqJz0J2D8t5J0zVM8Oj9tUuyJxOZnnY8ThV2iUbxQSslIxaoKX07Lmcu4l529yr8E6lA69IRa"
    "bFqYTfQlJmqlHeI0whiY4R1KApdbKSn-bwt_-nsv705Dk8bDw";

inline Json rsa_jwk(std::string_view kid, std::string_view modulus) {
    return Json::object(
        {{"kty", "RSA"},
         {"kid", kid},
         {"use", "sig"},
         {"alg", "RS256"},
         {"n", modulus},
         {"e", "AQAB"}});
}
// The issuer's key set, before and after it made a second key.
inline constexpr std::string_view kModulus3 =
    "t1WDuaCQ0Nmk8-cVsHe2-byDcd9YpXb5ArhbTxQowo59QUrU4aYI7ehmVo7Ck4ppSZM_vK_kkpzQE4v6Od_KXJA0"
    "G5ouam9tXO0Sh3hOLufwsmeHe2Xhh_tVp-EKoDNPd1XuzkjihFn4NLxEQGFLgzLk-PjRUxd0czaH7ewdhgaUSrH2"
    "ye3V-VOA0z5Ro0DxYShwVX573TBPYjeLI0fhS-vw8EBMXcd87nBMZIS4hjnUfIyvlRJhcnvnNaJXyvB6x5qzyapA"
    "5JMEL99QLetN4skmKZqW1qRGY-_7w0Fs-gV2ikqpErHajgYTDgRDBdUuwjAWv-ZLtxhRBzeOHAqe-w";
// The audience is a list of one, and of two.
inline constexpr std::string_view kListedAgentToken =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImszIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOlsiYWdl"
    "bnQ6aW5zdC0xIl0sImV4cCI6MTc5NDc0NzYwMCwidGVuYW50IjoiYWNtZSJ9.D_tPhfCdgNEOFHgiXu-Lvt7aNTK"
    "__UxCCMXO6zAxbhdvlnFUXG2JCjv9vk_Df2_LYaFqb6yyeT0dqN5h3liAHVSS39H9xED-Lf_AKTCsHRcYQAmu8c-"
    "eYRg9EB-YGq7rUruLoXA-vjOBtQATpYNOCWD0vQBSqsDDdZaRTc5H2vC0W0lJaz9FElA5zY7M5rM7wJYrF-ClCmf"
    "UyyzVigViPUCO4GbmG5MRAkVzg5bUaDWpOPpyzwQdERFj8REB-4pvyIppc5QO59BWeohilzpcCIp0IgTfSNkhmYk"
    "YbYQIwr0Z3dZYCdmsEdUfkE6dZBt2ETlQk8KMrKVXvfbdITxvJw";
inline constexpr std::string_view kTwiceListedAgentToken =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImszIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOlsiYWdl"
    "bnQ6aW5zdC0xIiwiYWdlbnQ6aW5zdC0yIl0sImV4cCI6MTc5NDc0NzYwMCwidGVuYW50IjoiYWNtZSJ9.GQilT0p"
    "5WNPEzNEGPEBglydOR_AMUz-2R5kZGNpzp_zBncrXr2eIjtxueR5dXrLMCzT7JR97E4KSKoI_9-F8Kt0jKF7eDA1"
    "8XUm04QCLj4SlwND-7bhYLmy25fNZdzXAmWYSxlnReK8y1w1lu3AfQVESMgkApemFrI0aNH90ET59NRo0I1iEPwR"
    "ZBelz56D-r1v4hlLao2-bm0VIUYTIqqCe5mOzJ6f3diH7t8RFo-a6ZYI82Tq_ZCODtNMePUfSfFR8xPxH9_fodpR"
    "gCNNAa7Dkb-lZ02pS4_EkTTPIpEyG_Y_w3zUQ07V2uOQsfwQX0_ed1dDX3xuU_bRR4j6Klg";

inline Json first_key_set() {
    return Json::object({{"keys", Json::array({rsa_jwk("k1", kModulus1)})}});
}
inline Json second_key_set() {
    return Json::object(
        {{"keys", Json::array({rsa_jwk("k1", kModulus1), rsa_jwk("k2", kModulus2)})}});
}
inline Json third_key_set() {
    return Json::object({{"keys", Json::array({rsa_jwk("k3", kModulus3)})}});
}

}  // namespace interlock
