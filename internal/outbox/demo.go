package outbox

import (
	"context"
	"sync/atomic"
)

// DemoSender sends nothing anywhere: the outbox page shows what the patient would get. Failing makes it refuse, so that
// a failed message and its retry can be shown.
type DemoSender struct{ failing atomic.Bool }

// Fail switches refusing on or off.
func (d *DemoSender) Fail(on bool) { d.failing.Store(on) }

// Failing reports whether it refuses.
func (d *DemoSender) Failing() bool { return d.failing.Load() }

// Send implements Sender.
func (d *DemoSender) Send(context.Context, Message) (string, error) {
	if d.Failing() {
		return "", &Refused{Code: "demo_switched_off"}
	}
	return "", nil
}

// OnEveryChannel gives one sender all there is to send.
func OnEveryChannel(s Sender) map[string]Sender { return map[string]Sender{Email: s, SMS: s} }
