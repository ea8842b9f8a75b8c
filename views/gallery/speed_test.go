package gallery

import (
	"bytes"
	"context"
	"testing"

	"countersign/views"
)

// BenchmarkLargeDay is a sheet of a hundred practitioners, the most a clinic has.
func BenchmarkLargeDay(b *testing.B) {
	p := twenty()
	for len(p.Columns) < 100 {
		p.Columns = append(p.Columns, p.Columns[:20]...)
	}
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		if err := views.Day(p).Render(context.Background(), &out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(out.Len())/1024, "KB")
}

func BenchmarkCard(b *testing.B) {
	c := cards()[0].Component
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		if err := c.Render(context.Background(), &out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(out.Len())/1024, "KB")
}
