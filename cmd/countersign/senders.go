package main

import "countersign/internal/outbox"

// senders gives each channel its way out. A channel without one keeps its messages waiting in the outbox. demo takes what
// has no other way, and is nil without --demo.
func (c *config) senders(demo *outbox.DemoSender) (map[string]outbox.Sender, error) {
	byChannel := map[string]outbox.Sender{}
	for _, channel := range []string{outbox.Email, outbox.SMS} {
		if demo != nil && byChannel[channel] == nil {
			byChannel[channel] = demo
		}
	}
	return byChannel, nil
}
