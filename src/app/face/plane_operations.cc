#include "app/face/plane_operations.h"

#include "host/face/account_operations.h"
#include "host/face/approval_operations.h"
#include "host/face/archive_operations.h"
#include "host/face/audit_operations.h"
#include "host/face/human_operations.h"
#include "host/face/key_operations.h"
#include "host/face/kill_operations.h"
#include "host/face/probe_operations.h"
#include "host/face/tenant_operations.h"
#include "loop/face/loop_control_operations.h"
#include "trader/face/strategy_operations.h"
#include "trader/face/supervisor_operations.h"

namespace interlock {

void register_plane_operations(OperationTable& table, Plane& plane, PrincipalService& principals) {
    register_account_operations(table, principals);
    register_tenant_operations(table, principals);
    register_key_operations(table, principals);
    register_human_operations(table, principals);
    register_kill_operations(table, plane.kill);
    register_approval_operations(table, plane.approvals);
    register_audit_operations(table, plane.ledger);
    register_archive_operations(table, plane.archive);
    register_probe_operations(table, plane.probes);
    register_loop_control_operations(table, *plane.control);
    register_control_operations(table, *plane.decisions, *plane.strategies);
    register_strategy_operations(table, *plane.strategies);
    register_supervisor_operations(table, *plane.supervisor);
}

}  // namespace interlock
