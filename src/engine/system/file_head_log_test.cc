#include "engine/system/file_head_log.h"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/temp_folder.h"

namespace interlock {
namespace {

TEST(FileHeadLog, KeepsLinesAcrossOpeningsAndCutsAHalfOneOff) {
    const TempFolder folder;
    const std::string path = folder / "heads.log";
    FileThread thread;
    {
        const auto log = FileHeadLog::open(path, thread).value();
        log->append("one");
        log->append("two");
        EXPECT_EQ(log->read().value(), (std::vector<std::string>{"one", "two"}));
    }
    std::ofstream(path, std::ios::app) << "thr";
    EXPECT_EQ(read_head_log(path)->size(), 2u);
    const auto log = FileHeadLog::open(path, thread).value();
    log->append("three");
    EXPECT_EQ(log->read().value(), (std::vector<std::string>{"one", "two", "three"}));
}

TEST(FileHeadLog, AMissingFileHasNoLines) {
    const TempFolder folder;
    EXPECT_TRUE(read_head_log(folder / "none")->empty());
}

}  // namespace
}  // namespace interlock
