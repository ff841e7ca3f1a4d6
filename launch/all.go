package launch

import "github.com/drydock-ml/drydock/internal/spec"

// Trainers returns the trainers drydock.yaml can name.
func Trainers() []spec.Spec[Trainer] {
	return []spec.Spec[Trainer]{llamafactorySpec, swiftSpec, trlSpec, axolotlSpec, commandSpec}
}
