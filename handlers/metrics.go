package handlers

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// requestMetrics registers the durations of requests by route template, and returns what notes one.
func requestMetrics(into prometheus.Registerer) func(route, method string, status int, took time.Duration) {
	if into == nil {
		return func(string, string, int, time.Duration) {}
	}
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "countersign_http_request_duration_seconds",
		Help:    "Time from reading a request to the end of its answer.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
	}, []string{"route", "method", "status"})
	into.MustRegister(durations)
	return func(route, method string, status int, took time.Duration) {
		durations.WithLabelValues(route, method, strconv.Itoa(status)).Observe(took.Seconds())
	}
}
