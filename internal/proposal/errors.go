package proposal

import "errors"

// ErrOverlap is an exclusion violation that no pin could show: another active appointment of the practitioner.
var ErrOverlap = errors.New("proposal: the practitioner has another active appointment then")

// ErrCommitUnknown says that the connection was lost while committing: look the key up, never repeat blindly.
var ErrCommitUnknown = errors.New("proposal: not known whether the transaction was committed")

// ErrMRNTaken says that somebody else, who did not come through a registration, got the record number at that moment.
var ErrMRNTaken = errors.New("proposal: another patient has this record number")
