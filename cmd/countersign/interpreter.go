package main

import (
	"log/slog"

	"countersign/internal/assistant"
	"countersign/internal/assistant/model"
)

// interpreter reads what is said to the assistant: the built-in grammar, and a language model before it when there is one.
func (c *config) interpreter(log *slog.Logger) (assistant.Interpreter, error) {
	grammar, err := assistant.NewGrammar("en")
	if err != nil || c.llmURL == "" {
		return grammar, err
	}
	return model.New(model.Config{URL: c.llmURL, Model: c.llmModel, Key: c.llmKey}, grammar, nil, func(reason string) {
		log.Warn("the language model's answer was not used", "reason", reason)
	})
}
