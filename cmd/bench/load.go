package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// series is one measured run: n operations by so many clients in a closed loop.
type series struct {
	took          []time.Duration // ascending
	elapsed       time.Duration
	rate          float64 // operations a second
	p50, p95, p99 time.Duration
	heap          uint64 // bytes in use after a collection
}

// seriesOf reckons the figures of operations that took so long, in so much time together.
func seriesOf(took []time.Duration, elapsed time.Duration) series {
	slices.Sort(took)
	at := func(q float64) time.Duration { return took[min(len(took)-1, int(q*float64(len(took))))] }
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return series{took, elapsed, float64(len(took)) / elapsed.Seconds(), at(.5), at(.95), at(.99), mem.HeapInuse}
}

// and is both series as one.
func (s series) and(o series) series { return seriesOf(append(s.took, o.took...), s.elapsed+o.elapsed) }

// measure runs op(i) for every i below n, each once, and fails on its first error.
func measure(ctx context.Context, clients, n int, op func(ctx context.Context, client, i int) error) (series, error) {
	took := make([]time.Duration, n)
	var next atomic.Int64
	var wg sync.WaitGroup
	var failed atomic.Value
	begin := time.Now()
	for c := range clients {
		wg.Go(func() {
			for failed.Load() == nil && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				start := time.Now()
				if err := op(ctx, c, i); err != nil {
					failed.CompareAndSwap(nil, err)
					return
				}
				took[i] = time.Since(start)
			}
		})
	}
	wg.Wait()
	all := time.Since(begin)
	if err, ok := failed.Load().(error); ok {
		return series{}, err
	}
	return seriesOf(took, all), ctx.Err()
}

func (s series) String() string {
	return fmt.Sprintf("%7.0f/s  p50 %6.1f ms  p95 %6.1f ms  p99 %6.1f ms  heap %4d MB", s.rate, ms(s.p50), ms(s.p95), ms(s.p99), s.heap>>20)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
