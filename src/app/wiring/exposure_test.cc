#include "app/wiring/exposure.h"

#include <gtest/gtest.h>

#include "app/wiring/data_path.h"
#include "app/wiring/test_server.h"
#include "testing/fake_clock.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

const Timestamp kNow{1'800'000'000'000'000};

Exposure local() {
    Exposure exposure;
    exposure.address = "http://127.0.0.1:8420";
    return exposure;
}

const DoctorFinding* find(const std::vector<DoctorFinding>& findings, std::string_view name) {
    for (const DoctorFinding& finding : findings) {
        if (finding.name == name) {
            return &finding;
        }
    }
    return nullptr;
}

Health state(const Exposure& exposure, std::string_view name) {
    const auto findings = judge_exposure(exposure, kNow);
    const DoctorFinding* const found = find(findings, name);
    EXPECT_NE(found, nullptr) << name;
    if (found == nullptr) {
        return Health::bad;
    }
    // Whatever is not good says what to do.
    EXPECT_EQ(found->health == Health::good, found->next_step.empty()) << found->detail;
    return found->health;
}

TEST(Exposure, PlaintextBeyondThisMachineHasToBeSaid) {
    Config config;
    for (const char* here : {"127.0.0.1", "127.0.0.9", "::1", "localhost"}) {
        config.http_address = here;
        EXPECT_TRUE(check_plaintext(config)) << here;
    }
    for (const char* beyond : {"0.0.0.0", "::", "192.168.1.7", "198.51.100.7", "::ffff:10.0.0.1"}) {
        config.http_address = beyond;
        const auto checked = check_plaintext(config);
        ASSERT_FALSE(checked) << beyond;
        EXPECT_NE(checked.error().message.find(beyond), std::string::npos);
        EXPECT_NE(checked.error().next().find("http.allow_plaintext"), std::string::npos);
    }
    config.http_allow_plaintext = true;
    EXPECT_TRUE(check_plaintext(config));
    config.http_allow_plaintext = false;
    config.http_tls_certificate = "cert.pem";
    EXPECT_TRUE(check_plaintext(config));
    config.metrics_listen = "0.0.0.0:9420";  // TLS is not for the numbers.
    EXPECT_FALSE(check_plaintext(config));
    config.metrics_listen = "[::1]:9420";
    EXPECT_TRUE(check_plaintext(config));
}

TEST(Exposure, TellsWhoCanReachTheServer) {
    Exposure exposure = local();
    EXPECT_EQ(state(exposure, "reach"), Health::good);
    exposure.address = "http://[::1]:8420";
    EXPECT_EQ(state(exposure, "reach"), Health::good);
    exposure.address = "https://0.0.0.0:443";
    EXPECT_EQ(state(exposure, "reach"), Health::good);
    exposure.address = "http://0.0.0.0:8420";
    EXPECT_EQ(state(exposure, "reach"), Health::note);
}

TEST(Exposure, TellsAProxyThatIsHalfConfigured) {
    Exposure exposure = local();
    EXPECT_EQ(state(exposure, "proxy"), Health::good);
    exposure.public_url = "https://desk.example";
    EXPECT_EQ(state(exposure, "proxy"), Health::note);  // Everybody is one caller.
    exposure.trusted_proxies = {"127.0.0.1"};
    EXPECT_EQ(state(exposure, "proxy"), Health::good);
    exposure.public_url.clear();
    EXPECT_EQ(state(exposure, "proxy"), Health::note);
    exposure = {};
    exposure.address = "https://0.0.0.0:443";
    exposure.public_url = "https://desk.example";
    EXPECT_EQ(state(exposure, "proxy"), Health::good);
}

TEST(Exposure, TellsWhoMayReadTheNumbers) {
    Exposure exposure = local();
    EXPECT_EQ(state(exposure, "metrics"), Health::good);
    exposure.metrics_listen = "127.0.0.1:9420";
    EXPECT_EQ(state(exposure, "metrics"), Health::good);
    exposure.metrics_listen = "10.0.0.1:9420";
    EXPECT_EQ(state(exposure, "metrics"), Health::note);
}

TEST(Exposure, TellsTheCertificateThatIsServed) {
    Exposure exposure = local();
    exposure.certificate_until = kNow + Duration::of_days(60);
    EXPECT_EQ(state(exposure, "served TLS"), Health::good);
    exposure.certificate_until = kNow + Duration::of_days(3);
    EXPECT_EQ(state(exposure, "served TLS"), Health::note);
    exposure.certificate_until = kNow;
    EXPECT_EQ(state(exposure, "served TLS"), Health::bad);
    exposure.certificate_until = kNow + Duration::of_days(60);
    exposure.reload_problem = "The TLS private key is no key.";
    EXPECT_EQ(state(exposure, "served TLS"), Health::bad);
}

TEST(Exposure, SurvivesTheWayToDoctor) {
    Exposure exposure = local();
    exposure.trusted_proxies = {"127.0.0.1", "10.0.0.0/8"};
    exposure.certificate_until = kNow;
    exposure.reload_problem = "x";
    const Json json = encode(exposure);
    EXPECT_EQ(encode(decode_exposure(json).value()), json);
}

// What the running server says counts, not the file that doctor happens to read.
TEST(Exposure, IsAskedOfTheRunningServer) {
    const TempFolder folder;
    Exposure running = local();
    running.metrics_listen = "10.0.0.1:9420";
    const TestServer server(folder.path().string(), [&](const HttpRequest& request) {
        return request.path() == "/exposure" ? json_answer(200, to_text(encode(running)))
                                             : json_answer(404, "{}");
    });
    Config config;
    config.data_folder = folder.path().string();
    FakeClock clock;
    const auto findings = check_exposure(config, clock);
    EXPECT_EQ(find(findings, "metrics")->health, Health::note);
}

TEST(Exposure, IsReadFromTheConfigurationWithoutAServer) {
    const TempFolder folder;
    Config config;
    config.data_folder = folder.path().string();
    config.http_address = "0.0.0.0";
    FakeClock clock;
    EXPECT_EQ(find(check_exposure(config, clock), "reach")->health, Health::bad);
    config.http_allow_plaintext = true;
    EXPECT_EQ(find(check_exposure(config, clock), "reach")->health, Health::note);
}

}  // namespace
}  // namespace interlock
