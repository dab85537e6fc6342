// Being told (docs/contracts/notices.md): what people want, the tenant's webhook, and how it goes.
// Agents have no part in it.
#pragma once

#include "api/operation.h"
#include "services/notices/notice_service.h"

namespace interlock {

void register_notice_operations(OperationTable& table, NoticeService& notices);

}  // namespace interlock
