package handlers

import (
	"context"
	"maps"
	"sync"

	"countersign/internal/assistant"
)

// script is an interpreter that knows some sentences by heart.
type script map[string]assistant.Meaning

var scripts sync.Mutex

func (s script) Interpret(_ context.Context, r assistant.Request) (assistant.Meaning, error) {
	scripts.Lock()
	defer scripts.Unlock()
	return s[r.Text], nil
}

// knows teaches sentences.
func (s script) knows(more script) {
	scripts.Lock()
	defer scripts.Unlock()
	maps.Copy(s, more)
}
