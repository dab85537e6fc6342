#include "app/wiring/witness_setup.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "host/service/witness_service.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

std::string set(Config& config, const std::string& name, const std::string& value) {
    for (const ConfigKey& key : witness_config_keys()) {
        if (key.name == "audit.witness." + name) {
            return key.set(config, value);
        }
    }
    return "no such key";
}

TEST(WitnessSetup, TakesUrlsAndABoundedNumberOfFiles) {
    Config config;
    EXPECT_EQ(set(config, "files", "/a, /b"), "");
    EXPECT_EQ(config.witness.files, (std::vector<std::string>{"/a", "/b"}));
    EXPECT_NE(set(config, "files", "1,2,3,4,5,6,7,8,9"), "");
    EXPECT_EQ(set(config, "webhook", "https://w.example/hook"), "");
    EXPECT_NE(set(config, "webhook", "ftp://w.example/"), "");
    EXPECT_NE(set(config, "tsa", "https://user:secret@w.example/"), "");
    EXPECT_EQ(config.witness.webhook, "https://w.example/hook");
}

TEST(WitnessSetup, WantsTlsBeyondThisMachineAndWhatGoesTogether) {
    const auto good = [](WitnessConfig config) { return check_witness_config(config).has_value(); };
    EXPECT_TRUE(good({}));
    EXPECT_TRUE(good({.webhook = "http://127.0.0.1:9/"}));
    EXPECT_TRUE(good({.webhook = "http://[::1]:9/"}));
    EXPECT_TRUE(good({.webhook = "http://localhost:9/"}));
    EXPECT_FALSE(good({.webhook = "http://w.example/"}));
    EXPECT_TRUE(good({.webhook = "https://w.example/"}));
    EXPECT_TRUE(good({.tsa = "http://tsa.example/"})) << "its tokens prove themselves";
    EXPECT_FALSE(good({.interlock = "https://w.example/"}));
    EXPECT_FALSE(good({.interlock_key_file = "/k"}));
    EXPECT_TRUE(good({.interlock = "https://w.example/", .interlock_key_file = "/k"}));
    EXPECT_FALSE(good({.webhook_token_file = "/t"}));
}

TEST(WitnessSetup, MakesThemInOrderAndRefusesACredentialThatOthersMayRead) {
    TempFolder folder;
    const std::string key = folder / "key";
    std::ofstream(key) << "ilk_x\n";
    chmod(key.c_str(), 0600);
    const WitnessConfig config{
        .files = {folder / "w.log"},
        .webhook = "https://w.example/hook",
        .webhook_token_file = key,
        .interlock = "https://other.example/api/a/witness/heads",
        .interlock_key_file = key,
        .tsa = "http://tsa.example/"};
    const auto made = make_witnesses({config, folder.path().string(), std::string(32, 'k')});
    ASSERT_TRUE(made.has_value()) << made.error().message;
    std::vector<std::string> names;
    for (const auto& witness : *made) {
        names.push_back(witness->name());
    }
    EXPECT_EQ(
        names,
        (std::vector<std::string>{
            "file " + (folder / "w.log"),
            "webhook at w.example",
            "interlock at other.example",
            "time-stamp server at tsa.example"}));
    EXPECT_TRUE(std::filesystem::is_directory(folder / "witness/tsa"));
    chmod(key.c_str(), 0644);
    EXPECT_FALSE(
        make_witnesses({config, folder.path().string(), std::string(32, 'k')}).has_value());
}

TEST(WitnessSetup, TheDoctorTellsEachKindOfTrouble) {
    const auto judged = [](std::vector<WitnessState> states) {
        Json list = Json::array();
        for (const WitnessState& state : states) {
            list.push(encode(state));
        }
        return judge_witnesses(Json::object({{"witnesses", std::move(list)}}));
    };
    EXPECT_EQ(judged({}).at(0).health, Health::note);
    EXPECT_EQ(judged({{.name = "w"}}).at(0).health, Health::good);
    const auto bad = judged(
        {{.name = "a", .pending = 3, .problem = "it answered 503"},
         {.name = "b", .disagreement = "the witness got seal 9:ab"}});
    ASSERT_EQ(bad.size(), 2u);
    EXPECT_EQ(bad[0].health, Health::bad);
    EXPECT_TRUE(bad[0].detail.contains("3 wait: it answered 503")) << bad[0].detail;
    EXPECT_EQ(bad[1].health, Health::bad);
    EXPECT_FALSE(bad[1].next_step.empty());
}

}  // namespace
}  // namespace interlock
