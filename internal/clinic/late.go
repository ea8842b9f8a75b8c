package clinic

import "time"

// ShortNotice is how long before its start a change or cancellation of a visit is late.
const ShortNotice = 24 * time.Hour

// Late tells whether a visit that started at start was changed or cancelled under 24 hours before, or after, it: real
// hours, whatever the clocks did in between. Exactly 24 hours before is in time.
func Late(changed, start time.Time) bool { return start.Sub(changed) < ShortNotice }
