// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The annotations of service accounts. All but AudiencesAnnotation are those of fluxcd/pkg/auth.
const (
	AWSRoleAnnotation        = "eks.amazonaws.com/role-arn"
	AzureClientAnnotation    = "azure.workload.identity/client-id"
	AzureTenantAnnotation    = "azure.workload.identity/tenant-id"
	GoogleProviderAnnotation = "gcp.auth.fluxcd.io/workload-identity-provider"
	GoogleAccountAnnotation  = "iam.gke.io/gcp-service-account"
	// AudiencesAnnotation lists further audiences, each with a name, as in
	// "vault=https://vault.example.com,registry=registry.example.com".
	AudiencesAnnotation = "pulumi.com/token-audiences"
)

// Bounds of what is read from annotations, which whoever can write a service account decides.
const (
	maxValue     = 512
	maxAudiences = 10
)

// Identity is that of a program in clouds. The zero value is none.
type Identity struct {
	AWS    *AWS       `json:"aws,omitempty"`
	Azure  *Azure     `json:"azure,omitempty"`
	Google *Google    `json:"google,omitempty"`
	Other  []Audience `json:"other,omitempty"`
}

// AWS is a role.
type AWS struct {
	Role string `json:"role"`
}

// Azure is an application or a managed identity.
type Azure struct {
	Client string `json:"client"`
	Tenant string `json:"tenant"`
}

// Google is a provider of a workload identity pool, and the account to impersonate, if any.
type Google struct {
	Provider string `json:"provider"`
	Account  string `json:"account,omitempty"`
}

// Audience is any other one that a program has a token for.
type Audience struct {
	Name     string `json:"name"`
	Audience string `json:"audience"`
}

// IsZero reports whether there is no identity in any cloud.
func (i Identity) IsZero() bool {
	return i.AWS == nil && i.Azure == nil && i.Google == nil && len(i.Other) == 0
}

// Parse reads the annotations of a service account. The error names the annotation, and says
// what it has to be.
func Parse(annotations map[string]string) (Identity, error) {
	var identity Identity
	var err error
	if identity.AWS, err = parseAWS(annotations); err != nil {
		return Identity{}, err
	}
	if identity.Azure, err = parseAzure(annotations); err != nil {
		return Identity{}, err
	}
	if identity.Google, err = parseGoogle(annotations); err != nil {
		return Identity{}, err
	}
	if identity.Other, err = parseAudiences(annotations[AudiencesAnnotation]); err != nil {
		return Identity{}, err
	}
	return identity, nil
}

// Annotations returns the names of the annotations that mean an identity here, sorted. Values
// may be wrong.
func Annotations(annotations map[string]string) []string {
	var found []string
	for _, name := range []string{
		AWSRoleAnnotation, AzureClientAnnotation, AzureTenantAnnotation, GoogleProviderAnnotation, AudiencesAnnotation,
	} {
		if annotations[name] != "" {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// Unused returns the annotations that have no effect on runs while the controller gives no identity to programs,
// sorted. With pods of their own, the webhooks of EKS and AKS read some of them.
func Unused(annotations map[string]string, asJobs bool) []string {
	return slices.DeleteFunc(Annotations(annotations), func(name string) bool {
		return asJobs && slices.Contains([]string{AWSRoleAnnotation, AzureClientAnnotation, AzureTenantAnnotation}, name)
	})
}

func parseAWS(annotations map[string]string) (*AWS, error) {
	role := annotations[AWSRoleAnnotation]
	if role == "" {
		return nil, nil
	}
	if err := check(AWSRoleAnnotation, role, awsRole, "the ARN of a role, such as arn:aws:iam::123456789012:role/deploy"); err != nil {
		return nil, err
	}
	return &AWS{Role: role}, nil
}

func parseAzure(annotations map[string]string) (*Azure, error) {
	client, tenant := annotations[AzureClientAnnotation], annotations[AzureTenantAnnotation]
	switch {
	case client == "" && tenant == "":
		return nil, nil
	case client == "":
		return nil, fmt.Errorf("the annotation %s needs %s beside it", AzureTenantAnnotation, AzureClientAnnotation)
	case tenant == "":
		return nil, fmt.Errorf("the annotation %s needs %s beside it", AzureClientAnnotation, AzureTenantAnnotation)
	}
	if err := check(AzureClientAnnotation, client, azureID, "the client ID of an application or a managed identity"); err != nil {
		return nil, err
	}
	if err := check(AzureTenantAnnotation, tenant, azureID, "the ID or a domain of a tenant"); err != nil {
		return nil, err
	}
	return &Azure{Client: client, Tenant: tenant}, nil
}

// parseGoogle ignores an account to impersonate without a provider: that is how GKE's own
// metadata server is configured, which needs nothing from the controller.
func parseGoogle(annotations map[string]string) (*Google, error) {
	provider, account := annotations[GoogleProviderAnnotation], annotations[GoogleAccountAnnotation]
	if provider == "" {
		return nil, nil
	}
	if err := check(GoogleProviderAnnotation, provider, googleProvider,
		"projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/PROVIDER"); err != nil {
		return nil, err
	}
	if account != "" {
		if err := check(GoogleAccountAnnotation, account, googleAccount, "the email address of a service account"); err != nil {
			return nil, err
		}
	}
	return &Google{Provider: provider, Account: account}, nil
}

func parseAudiences(text string) ([]Audience, error) {
	var audiences []Audience
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		name, audience, _ := strings.Cut(entry, "=")
		if !audienceName.MatchString(name) || audience == "" || len(audience) > maxValue || strings.ContainsFunc(audience, isUnprintable) {
			return nil, fmt.Errorf("the annotation %s must be a list such as vault=https://vault.example.com, with names of up to 32 "+
				"lowercase letters, digits and dashes", AudiencesAnnotation)
		}
		if slices.ContainsFunc(audiences, func(a Audience) bool { return a.Name == name }) {
			return nil, fmt.Errorf("the annotation %s has the name %s twice", AudiencesAnnotation, name)
		}
		audiences = append(audiences, Audience{Name: name, Audience: audience})
	}
	if len(audiences) > maxAudiences {
		return nil, fmt.Errorf("the annotation %s has more than %d audiences", AudiencesAnnotation, maxAudiences)
	}
	slices.SortFunc(audiences, func(a, b Audience) int { return strings.Compare(a.Name, b.Name) })
	return audiences, nil
}

// The grammars are at least as strict as those of fluxcd/pkg/auth. The values end in variables,
// a JSON file and messages.
var (
	awsRole        = regexp.MustCompile(`^arn:aws[\w-]*:iam::\d{1,30}:role/[\w+=,.@/-]{1,400}$`)
	azureID        = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9.-]*$`)
	googleProvider = regexp.MustCompile(`^projects/\d{1,30}/locations/global/workloadIdentityPools/[a-zA-Z0-9-]{1,100}/providers/[a-zA-Z0-9-]{1,100}$`)
	googleAccount  = regexp.MustCompile(`^[a-zA-Z0-9-]{1,100}@[a-zA-Z0-9.-]{1,100}\.gserviceaccount\.com$`)
	audienceName   = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
)

func check(annotation, value string, grammar *regexp.Regexp, want string) error {
	if len(value) > maxValue || !grammar.MatchString(value) {
		return fmt.Errorf("the annotation %s is not %s", annotation, want)
	}
	return nil
}

func isUnprintable(r rune) bool { return r <= ' ' || r > '~' }
