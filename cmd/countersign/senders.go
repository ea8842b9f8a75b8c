package main

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/outbox"
	"countersign/internal/outbox/sms"
	"countersign/internal/outbox/smtp"
)

// senders gives each channel its way out. A channel without one keeps its messages waiting in the outbox. demo takes what
// has no other way, and is nil without --demo.
func (c *config) senders(demo *outbox.DemoSender, secret sms.Secret) (map[string]outbox.Sender, error) {
	if _, err := clinic.ParseEmail(c.mailFrom); err != nil {
		return nil, errors.New("--mail-from: not one plain e-mail address")
	}
	byChannel := map[string]outbox.Sender{}
	if c.smtpURL != "" {
		mail, err := smtp.New(c.smtpURL, c.mailFrom)
		if err != nil {
			return nil, fmt.Errorf("--smtp-url, --mail-from: %w", err)
		}
		byChannel[outbox.Email] = mail
	}
	if c.smsWebhookURL != "" {
		gateway, err := sms.New(c.smsWebhookURL, secret, time.Now)
		if err != nil {
			return nil, fmt.Errorf("--sms-webhook-url: %w", err)
		}
		byChannel[outbox.SMS] = gateway
	}
	for _, channel := range []string{outbox.Email, outbox.SMS} {
		if demo != nil && byChannel[channel] == nil {
			byChannel[channel] = demo
		}
	}
	return byChannel, nil
}

// secretFile holds the secret shared with the gateway where none was given, in the data directory.
const secretFile = "sms-webhook-secret"

// smsSecret is what is shared with the gateway; nil where there is no gateway.
func (c *config) smsSecret() (sms.Secret, error) {
	written := c.smsWebhookSecret
	if written == "" && c.smsWebhookURL == "" {
		return nil, nil
	}
	if written == "" {
		var err error
		if written, err = kept(c.dataDir, secretFile, freshSecret); err != nil {
			return nil, fmt.Errorf("the secret shared with the SMS gateway: %w", err)
		}
	}
	secret, err := sms.ReadSecret(written)
	if err != nil {
		return nil, fmt.Errorf("--sms-webhook-secret: %w", err)
	}
	return secret, nil
}

func freshSecret() (string, error) {
	var b [32]byte
	_, err := rand.Read(b[:])
	return "whsec_" + base64.StdEncoding.EncodeToString(b[:]), err
}
