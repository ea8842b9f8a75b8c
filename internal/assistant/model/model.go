// Package model reads messages with a language model over an OpenAI-compatible chat API with tool calling. The model only
// names: its answer is data that is checked, compared with what was really written, and read once more by the built-in
// grammar. Whatever goes wrong, the built-in interpreter answers instead.
package model

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"countersign/internal/assistant"
)

// Config is where the model is: the base URL of the API ("https://…/v1"), the model's name, the key ("" for none).
type Config struct {
	URL, Model, Key string
	Timeout         time.Duration // of one message, all attempts together; 0 is 20 s
}

// Reader is what the built-in interpreter gives: the reading of a message, and of single phrases of the model's.
type Reader interface {
	assistant.Interpreter
	// Request is the message without what is data in it: quotations, reasons, notes and the texts of messages.
	Request(text string) string
}

// Interpreter implements assistant.Interpreter. It holds no lock and no transaction while it waits.
type Interpreter struct {
	config Config
	client *http.Client
	inner  Reader
	sleep  func(context.Context, time.Duration) error
	report func(reason string)
}

// New makes an interpreter that asks the model and falls back on inner. transport nil is the default one. report, if not
// nil, is told why an answer was not used, in words that hold nothing of what was written.
func New(c Config, inner Reader, transport http.RoundTripper, report func(reason string)) (*Interpreter, error) {
	if !strings.HasPrefix(c.URL, "https://") && !strings.HasPrefix(c.URL, "http://") || c.Model == "" {
		return nil, errors.New("a language model needs an http or https URL and a model's name")
	}
	if c.Timeout <= 0 {
		c.Timeout = 20 * time.Second
	}
	if report == nil {
		report = func(string) {}
	}
	c.URL = strings.TrimRight(c.URL, "/") + "/chat/completions"
	return &Interpreter{
		config: c, inner: inner, sleep: wait, report: report,
		client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Interpret never fails but for the caller's own deadline. Answers to a question for text, and words that the grammar
// reads as an answer or a new start, are not the model's business.
func (i *Interpreter) Interpret(ctx context.Context, r assistant.Request) (assistant.Meaning, error) {
	plain, err := i.inner.Interpret(ctx, r)
	if err != nil || r.Asks == assistant.AskText || plain.StartOver || plain.Leave || plain.Yes || plain.No || plain.Pick != 0 {
		return plain, err
	}
	request := i.inner.Request(r.Text)
	if request == "" {
		return plain, nil
	}
	asked, cancel := context.WithTimeout(ctx, i.config.Timeout)
	defer cancel()
	answer, err := i.ask(asked, request, r)
	if err == nil {
		var m assistant.Meaning
		if m, err = i.resolve(ctx, answer, request, r, plain); err == nil {
			return m, nil
		}
	}
	i.report(reason(err))
	return plain, ctx.Err()
}

// refused is a reason why an answer is not used; it holds nothing of the answer.
type refused string

func (r refused) Error() string { return string(r) }

func reason(err error) string {
	var r refused
	switch {
	case errors.As(err, &r):
		return string(r)
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	}
	return "not reached"
}
