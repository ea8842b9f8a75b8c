package main

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"countersign/db"
)

// metricsHandler adds the process and the connection pool to the registry, and serves it.
func metricsHandler(registry *prometheus.Registry, d *db.DB) http.Handler {
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	gauge := func(name, help string, value func() float64) {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "countersign_db_" + name, Help: help}, value))
	}
	counter := func(name, help string, value func() float64) {
		registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "countersign_db_" + name, Help: help}, value))
	}
	gauge("connections_in_use", "Connections that work.", func() float64 { return float64(d.Stats().InUse) })
	gauge("connections_idle", "Connections that wait for work.", func() float64 { return float64(d.Stats().Idle) })
	gauge("connections_max", "Most connections there may be.", func() float64 { return float64(d.Stats().MaxOpenConnections) })
	counter("waits_total", "Times that work waited for a connection.", func() float64 { return float64(d.Stats().WaitCount) })
	counter("wait_seconds_total", "Time that work waited for connections.", func() float64 { return d.Stats().WaitDuration.Seconds() })
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return mux
}
