// The five scenes of `interlock demo`: a good order, the same call again, an order over the limit,
// a venue that goes silent, and a server that is killed. Every call is a real one; the promises at
// the end of each scene are checked against the venue's own journal.
#pragma once

#include <string>

#include "app/demo/demo_planner.h"
#include "app/demo/demo_stage.h"
#include "app/wiring/ledger_folder.h"
#include "app/wiring/server.h"

namespace interlock {

class DemoScenes {
public:
    DemoScenes(DemoStage& stage, Server& server, DemoPlanner::Parts planner);

    // True when every promise held. Ends early, and so, when a person asked to stop.
    bool play();

private:
    Result<void> good_order();
    Result<void> same_call_again();
    Result<void> over_the_limit();
    Result<void> silent_venue();
    Result<void> verify_ledger();
    // Writes the decision's receipt into the data folder and checks it as an outsider would.
    Result<void> show_receipt(const std::string& decision);

    // state … execute of one order; what execute was asked and answered.
    struct Sent {
        std::string decision;
        Json body;
        DemoAnswer answer;
        std::string order_client_id;
    };
    Result<Sent> send_order(const std::string& name, const DemoOrder& order);
    Result<std::int64_t> orders_at_venue() const;
    // After a restart or an unknown outcome entries wait until the venue was seen clean twice.
    Result<void> wait_for_normal();

    DemoStage& stage_;
    Server& server_;
    DemoPlanner planner_;
    DemoOrder order_;  // Of the first scene; a size of its own in each play.
    Sent first_;
};

// "OK: 56 records in 2 chains"
std::string verify_text(const FolderReport& report);

// The fifth: a second server, in a folder of its own below `data_folder`, killed while an order is
// on its way.
Result<void> play_crash_scene(DemoStage& stage, const std::string& data_folder);

}  // namespace interlock
