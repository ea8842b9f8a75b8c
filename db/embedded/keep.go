//go:build unix

package embedded

import (
	"context"
	"time"
)

// Between the end of a server and the next start, and at most between starts that fail.
const (
	firstRest = 200 * time.Millisecond
	mostRest  = 10 * time.Second
)

// keep starts the server again whenever it has ended by itself (killed, crashed, out of memory): nobody else would, and
// the program's pools find it where it was. It ends with ctx.
func (c *Cluster) keep(ctx context.Context, begin func(context.Context) (*server, error)) {
	defer close(c.kept)
	rest := firstRest
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.server.done:
		}
		if pause(ctx, rest) != nil {
			return
		}
		next, err := begin(ctx)
		switch {
		case err == nil:
			c.server, rest = next, firstRest
			c.log.Warn("PostgreSQL was started again")
		case ctx.Err() == nil:
			rest = min(2*rest, mostRest)
			c.log.Error("PostgreSQL could not be started again", "error", err.Error())
		}
	}
}
