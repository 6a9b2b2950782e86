// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	psaapi "k8s.io/pod-security-admission/api"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

var update = flag.Bool("update", false, "write the golden files")

func settings() Settings {
	return Settings{Image: "ghcr.io/flux-pulumi/pulumi-controller:v1", Grace: pulumi.DefaultGrace(), Retries: 9}
}

func aRun() run.Run {
	return run.Run{
		ID: "5b1f6c0e-0d0f-4a53-9c1b-3b1f6f0e7a11", Namespace: "team-a", Name: "app", UID: "uid-of-stack", Operation: run.Update,
		Revision: "main@sha1:abc", Stack: "dev", Backend: "s3://state", Timeout: 30 * time.Minute,
		Program: run.Program{YAML: []byte("resources: {}\n")}, Secrets: map[string]string{"app:password": "hush"},
	}
}

func withTemplate(template string) run.Run {
	r := aRun()
	raw, err := yaml.YAMLToJSON([]byte(template))
	if err != nil {
		panic(err)
	}
	r.Workspace = raw
	return r
}

// TestTheObjectsOfARun compares them with golden files; -update rewrites those.
func TestTheObjectsOfARun(t *testing.T) {
	named := withTemplate(`
spec:
  image: pulumi/pulumi-nodejs:3
  imagePullPolicy: Always
  env:
    - {name: NODE_OPTIONS, value: --max-old-space-size=512}
    - {name: NPM_TOKEN, valueFrom: {secretKeyRef: {name: npm, key: token}}}
  resources: {limits: {memory: 1Gi}}
  podTemplate:
    metadata: {labels: {team: a}, annotations: {note: mine}}
    spec:
      imagePullSecrets: [{name: registry}]
      nodeSelector: {disk: fast}
      containers:
        - name: pulumi
          volumeMounts: [{name: plugins, mountPath: /pulumi-plugins, readOnly: true}]
      volumes: [{name: plugins, persistentVolumeClaim: {claimName: plugins, readOnly: true}}]
`)
	named.Account = run.ServiceAccount{Namespace: "team-a", Name: "deployer"}
	kept := mountingDependencies(`persistentVolumeClaim: {claimName: dependencies}`, "")
	for name, r := range map[string]run.Run{"plain": aRun(), "template": named, "dependencies": kept} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := settings()
			s.Part, s.Proxies, s.DependencyCacheSize, s.namespaceUID = "shard", map[string]string{"HTTPS_PROXY": "http://proxy"}, 2<<30, "u1"
			built, err := build(s, r)
			g.Expect(err).NotTo(HaveOccurred())
			again, err := build(s, r)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(again).To(Equal(built), "building twice gives the same")

			built.secret.UID = "uid-of-secret"
			built.withSecret(built.secret)
			read, digest := inputOf(g, built)
			g.Expect(read.Run.Secrets).To(Equal(r.Secrets))
			g.Expect(read.Proxies).To(Equal(s.Proxies))
			built.secret.Data[exchange.RunKey] = []byte("(the run)")
			var out []string
			for _, object := range []any{built.secret, built.account, built.role, built.binding, built.job} {
				text, err := yaml.Marshal(object)
				g.Expect(err).NotTo(HaveOccurred())
				if string(text) != "null\n" {
					out = append(out, strings.ReplaceAll(string(text), digest, "(the digest)"))
				}
			}
			text := strings.Join(out, "---\n")
			g.Expect(text).NotTo(ContainSubstring("hush"))
			path := filepath.Join("testdata", name+".yaml")
			if *update {
				g.Expect(os.WriteFile(path, []byte(text), 0o644)).To(Succeed())
			}
			golden, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(text).To(Equal(string(golden)))
		})
	}
}

func TestVariablesFromSecretsAreMasked(t *testing.T) {
	g := NewWithT(t)
	built, err := build(settings(), withTemplate(`{spec: {env: [{name: A, value: b}, {name: TOKEN, valueFrom: {secretKeyRef: {name: s, key: k}}}],
  podTemplate: {spec: {containers: [{name: pulumi, env: [{name: ANOTHER, valueFrom: {secretKeyRef: {name: s, key: k}}}]}]}}}}`))
	g.Expect(err).NotTo(HaveOccurred())
	main := containerOf(built.job.Spec.Template.Spec.Containers, mainContainer)
	g.Expect(secretEnv(main)).To(Equal([]string{"ANOTHER", "TOKEN"}))
}

func TestTheControllerImageKeepsItsPullPolicy(t *testing.T) {
	for name, tt := range map[string]struct {
		template   string
		copy, main corev1.PullPolicy
	}{
		"the controller's image": {`{}`, corev1.PullNever, corev1.PullNever},
		"with a policy":          {`{spec: {imagePullPolicy: Always}}`, corev1.PullNever, corev1.PullAlways},
		"an image of its own":    {`{spec: {image: pulumi/pulumi}}`, corev1.PullNever, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := settings()
			s.PullPolicy = corev1.PullNever
			built, err := build(s, withTemplate(tt.template))
			g.Expect(err).NotTo(HaveOccurred())
			pod := built.job.Spec.Template.Spec
			g.Expect(containerOf(pod.InitContainers, copyContainer).ImagePullPolicy).To(Equal(tt.copy))
			g.Expect(containerOf(pod.Containers, mainContainer).ImagePullPolicy).To(Equal(tt.main))
		})
	}
}

func TestThePodLogsAsTheController(t *testing.T) {
	g := NewWithT(t)
	s := settings()
	g.Expect(s.arguments(aRun())).NotTo(ContainElement(HavePrefix("--log-")))
	s.LogLevel, s.LogEncoding = "debug", "console"
	g.Expect(s.arguments(aRun())).To(ContainElements("--log-level=debug", "--log-encoding=console"))
}

func TestTheDeadlineLeavesTimeToStopAndReport(t *testing.T) {
	g := NewWithT(t)
	s, r := settings(), aRun()
	built, err := build(s, r)
	g.Expect(err).NotTo(HaveOccurred())
	grace := time.Duration(*built.job.Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second
	deadline := time.Duration(*built.job.Spec.ActiveDeadlineSeconds) * time.Second
	g.Expect(grace).To(BeNumerically(">=", s.Grace.Total()+writeAllowance), "the run is stopped gently, and its result written")
	g.Expect(deadline).To(BeNumerically(">=", r.Timeout+grace+startAllowance))
	r.Timeout = math.MaxInt64
	built, err = build(s, r)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*built.job.Spec.ActiveDeadlineSeconds).To(BeNumerically(">", 0))
}

func TestTheGracePeriodComesFromTheController(t *testing.T) {
	for _, template := range []string{
		`{spec: {podTemplate: {spec: {terminationGracePeriodSeconds: 600}}}}`,
		`{spec: {podTemplate: {spec: {terminationGracePeriodSeconds: 0}}}}`,
		`{spec: {podTemplate: {spec: {terminationGracePeriodSeconds: 3600}}}}`,
		`{spec: {podTemplate: {spec: {terminationGracePeriodSeconds: null}}}}`,
	} {
		g := NewWithT(t)
		built, err := build(settings(), withTemplate(template))
		g.Expect(err).NotTo(HaveOccurred(), template)
		g.Expect(*built.job.Spec.Template.Spec.TerminationGracePeriodSeconds).To(Equal(int64(settings().stopping()/time.Second)), template)
	}
}

// mounting is a template that mounts the volume at the path.
func mounting(volume, path string, readOnly bool) string {
	return fmt.Sprintf(`{spec: {podTemplate: {spec: {volumes: [{name: x, %s}], containers: [{name: pulumi, volumeMounts: [{name: x, mountPath: %s, readOnly: %t}]}]}}}}`, volume, path, readOnly)
}

func TestATemplateIsRefusedByName(t *testing.T) {
	for name, tt := range map[string]struct{ template, want string }{
		"not an object":                     {`[]`, "spec.workspaceTemplate is not an object"},
		"unknown key":                       {`{spce: {}}`, "spec.workspaceTemplate.spce is not known"},
		"unknown field":                     {`{spec: {imagee: x}}`, "spec.workspaceTemplate.spec.imagee is not known"},
		"a source":                          {`{spec: {git: {}}}`, "spec.workspaceTemplate.spec.git is a source"},
		"stacks":                            {`{spec: {stacks: []}}`, "spec.workspaceTemplate.spec.stacks is the stack itself"},
		"a security profile":                {`{spec: {securityProfile: baseline}}`, "--runner-pod-security"},
		"a pull policy":                     {`{spec: {imagePullPolicy: Sometimes}}`, "imagePullPolicy"},
		"a quantity":                        {`{spec: {resources: {limits: {memory: lots}}}}`, "spec.workspaceTemplate.spec cannot be read"},
		"all of a Secret":                   {`{spec: {envFrom: [{secretRef: {name: s}}]}}`, "use spec.envSecrets"},
		"all of a Secret in the patch":      {`{spec: {podTemplate: {spec: {containers: [{name: pulumi, envFrom: [{secretRef: {name: s}}]}]}}}}`, "use spec.envSecrets"},
		"an unknown field of the pod":       {`{spec: {podTemplate: {spec: {nodeSelectr: {}}}}}`, "nodeSelectr"},
		"a restart policy":                  {`{spec: {podTemplate: {spec: {restartPolicy: OnFailure}}}}`, "spec.restartPolicy"},
		"another account":                   {`{spec: {podTemplate: {spec: {serviceAccountName: admin}}}}`, "spec.serviceAccountName"},
		"the account by its old name":       {`{spec: {podTemplate: {spec: {serviceAccount: admin}}}}`, "spec.serviceAccountName"},
		"no service account token":          {`{spec: {podTemplate: {spec: {automountServiceAccountToken: false}}}}`, "spec.automountServiceAccountToken"},
		"a host name":                       {`{spec: {podTemplate: {spec: {hostname: x}}}}`, "spec.hostname"},
		"another command":                   {`{spec: {podTemplate: {spec: {containers: [{name: pulumi, command: [sh]}]}}}}`, "spec.containers[pulumi].command"},
		"other arguments":                   {`{spec: {podTemplate: {spec: {containers: [{name: pulumi, args: [sh]}]}}}}`, "spec.containers[pulumi].args"},
		"no container":                      {`{spec: {podTemplate: {spec: {containers: [{$patch: delete, name: pulumi}]}}}}`, "spec.containers[pulumi].command"},
		"containers replaced":               {`{spec: {podTemplate: {spec: {containers: [{$patch: replace}, {name: x}]}}}}`, "spec.containers[pulumi].command"},
		"a restart policy of the container": {`{spec: {podTemplate: {spec: {containers: [{name: pulumi, restartPolicy: Always}]}}}}`, "spec.containers[pulumi].restartPolicy"},
		"restart rules of the container":    {`{spec: {podTemplate: {spec: {containers: [{name: pulumi, restartPolicy: Never, restartPolicyRules: [{action: Restart}]}]}}}}`, "spec.containers[pulumi].restartPolicy"},
		"a hook":                            {`{spec: {podTemplate: {spec: {containers: [{name: pulumi, lifecycle: {preStop: {exec: {command: [x]}}}}]}}}}`, "lifecycle"},
		"the init container's image":        {`{spec: {podTemplate: {spec: {initContainers: [{name: bootstrap, image: evil}]}}}}`, "spec.initContainers[bootstrap]"},
		"no work directory":                 {`{spec: {podTemplate: {spec: {volumes: [{$patch: delete, name: pulumi-work}]}}}}`, "spec.volumes[pulumi-work]"},
		"a persistent work directory":       {`{spec: {podTemplate: {spec: {volumes: [{name: pulumi-work, emptyDir: null, persistentVolumeClaim: {claimName: x}}]}}}}`, "spec.volumes[pulumi-work] (must be deleted with the pod"},
		"a shared /tmp":                     {`{spec: {podTemplate: {spec: {volumes: [{name: tmp, emptyDir: null, persistentVolumeClaim: {claimName: x}}]}}}}`, "spec.volumes[tmp] (must be deleted with the pod"},
		"another volume for the controller's program": {`{spec: {podTemplate: {spec: {volumes: [{name: pulumi-controller, persistentVolumeClaim: {claimName: x}}]}}}}`, "spec.volumes[pulumi-controller]"},
		"a mount over the program":                    {`{spec: {podTemplate: {spec: {volumes: [{name: x, emptyDir: {}}], containers: [{name: pulumi, volumeMounts: [{name: x, mountPath: /pulumi-controller/x}]}]}}}}`, "volumeMounts"},
		"a mount over the token":                      {`{spec: {podTemplate: {spec: {volumes: [{name: x, emptyDir: {}}], containers: [{name: pulumi, volumeMounts: [{name: x, mountPath: /var/run}]}]}}}}`, "volumeMounts"},
		"a persistent volume in the work directory":   {mounting("persistentVolumeClaim: {claimName: x}", "/pulumi-work/runs", false), "spec.containers[pulumi].volumeMounts (what is within /pulumi-work must be deleted with the pod"},
		"a persistent volume there by another path":   {mounting("persistentVolumeClaim: {claimName: x}", "/x/..//pulumi-work/runs", false), "spec.containers[pulumi].volumeMounts (what is within /pulumi-work must be deleted with the pod"},
		"a mount over the token by another path":      {mounting("emptyDir: {}", "/etc/../var/run", false), "volumeMounts"},
		"another backend":                             {`{spec: {env: [{name: PULUMI_BACKEND_URL, value: s3://x}]}}`, "spec.workspaceTemplate.spec.env cannot have the variable PULUMI_BACKEND_URL: use spec.backend"},
		"a flag of Pulumi":                            {`{spec: {env: [{name: PULUMI_OPTION_PARALLEL, value: "4"}]}}`, "spec.workspaceTemplate.spec.env is refused: the environment variable PULUMI_OPTION_PARALLEL cannot be set: set PULUMI_PARALLEL instead"},
		"another home":                                {`{spec: {env: [{name: HOME, value: /x}]}}`, "spec.workspaceTemplate.spec.env is refused: the environment variable HOME cannot be set"},
		"another home, in the patch":                  {`{spec: {podTemplate: {spec: {containers: [{name: pulumi, env: [{name: HOME, value: /x}]}]}}}}`, "spec.containers[pulumi].env is refused: the environment variable HOME cannot be set"},
		"a variable name no shell passes on":          {`{spec: {env: [{name: a.b, valueFrom: {secretKeyRef: {name: s, key: k}}}]}}`, `spec.workspaceTemplate.spec.env is refused: "a.b" is not a valid name`},
		"another host name for the program":           {`{spec: {env: [{name: HOSTNAME, value: x}]}}`, "spec.workspaceTemplate.spec.env cannot have the variable HOSTNAME"},
		"the name of the pod":                         {`{spec: {podTemplate: {spec: {containers: [{name: pulumi, env: [{name: POD_UID, value: x}]}]}}}}`, "spec.containers[pulumi].env"},
		"a finalizer":                                 {`{spec: {podTemplate: {metadata: {finalizers: [example.com/stay]}}}}`, "metadata (except labels and annotations)"},
		"an owner":                                    {`{spec: {podTemplate: {metadata: {ownerReferences: [{apiVersion: v1, kind: Secret, name: a, uid: b}]}}}}`, "metadata (except labels and annotations)"},
		"an invalid label of the pod":                 {`{spec: {podTemplate: {metadata: {labels: {a: x y}}}}}`, `spec.workspaceTemplate.spec.podTemplate.metadata.labels cannot be set on a pod: Invalid value: "x y": a valid label must`},
		"labels of the Job as a list":                 {`{metadata: {labels: [a]}}`, "spec.workspaceTemplate.metadata.labels is not a map of strings"},
		"an annotation of the Job without quotes":     {`{metadata: {annotations: {a: true}}}`, "spec.workspaceTemplate.metadata.annotations is not a map of strings"},
		"an invalid label of the Job":                 {`{metadata: {labels: {a b: x}}}`, `spec.workspaceTemplate.metadata.labels cannot be set on a Job: Invalid value: "a b": name part must`},
		"an invalid label value of the Job":           {`{metadata: {labels: {a: x y}}}`, `spec.workspaceTemplate.metadata.labels cannot be set on a Job: Invalid value: "x y": a valid label must`},
		"an invalid annotation of the Job":            {`{metadata: {annotations: {a/b/c: x}}}`, `spec.workspaceTemplate.metadata.annotations cannot be set on a Job: Invalid value: "a/b/c"`},
		"metadata as a string":                        {`{metadata: x}`, "spec.workspaceTemplate.metadata is not an object"},
		"too large":                                   {`{spec: {image: ` + strings.Repeat("x", maxTemplate) + `}}`, "spec.workspaceTemplate has more than"},
		"a list that takes minutes to merge":          {`{spec: {podTemplate: {spec: {containers: [{name: pulumi, env: [` + strings.Repeat("{name: a},", 4000) + `]}]}}}}`, "list of 4000 items"},
		"other arguments of the init container":       {`{spec: {podTemplate: {spec: {initContainers: [{name: bootstrap, resources: {limits: {cpu: 1}}, args: [x]}]}}}}`, "spec.initContainers[bootstrap]"},
		"the host's network":                          {`{spec: {podTemplate: {spec: {hostNetwork: true}}}}`, "spec.hostNetwork"},
		"the host's files":                            {`{spec: {podTemplate: {spec: {volumes: [{name: root, hostPath: {path: /}}]}}}}`, `Pod Security Standard "restricted"`},
		"privileges":                                  {`{spec: {podTemplate: {spec: {containers: [{name: pulumi, securityContext: {privileged: true}}]}}}}`, "privileged"},
		"a sidecar as root":                           {`{spec: {podTemplate: {spec: {containers: [{name: side, image: x, securityContext: {runAsUser: 0}}]}}}}`, "--runner-pod-security"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			err := check(settings(), withTemplate(tt.template))
			var fault *TemplateError
			g.Expect(errors.As(err, &fault)).To(BeTrue(), "%v", err)
			g.Expect(err).To(MatchError(ContainSubstring(tt.want)))
			g.Expect(fault.Field).To(HavePrefix("spec.workspaceTemplate"))
		})
	}
}

func TestATemplateIsHonoured(t *testing.T) {
	for name, template := range map[string]string{
		"none":                            `{}`,
		"no spec":                         `{spec: null}`,
		"metadata":                        `{metadata: {labels: {a: b}}}`,
		"metadata of an object":           `{metadata: {name: x, namespace: y, creationTimestamp: null, labels: null, generateName: z, finalizers: [a.com/b]}}`,
		"an annotation":                   `{metadata: {annotations: {Example.com/A: what ever}}}`,
		"a reserved label":                `{metadata: {labels: {app.kubernetes.io/managed-by: Helm}, annotations: {pulumi.com/stack: x}}}`,
		"resources of the init container": `{spec: {podTemplate: {spec: {initContainers: [{name: bootstrap, resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 64Mi}}}]}}}}`,
		"a sidecar":                       `{spec: {podTemplate: {spec: {containers: [{name: side, image: x, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}}}}`,
		"another user":                    `{spec: {podTemplate: {spec: {securityContext: {runAsUser: 1000, fsGroup: 1000}}}}}`,
		"a writable /":                    `{spec: {podTemplate: {spec: {containers: [{name: pulumi, securityContext: {readOnlyRootFilesystem: false}}]}}}}`,
		"a larger disk":                   `{spec: {podTemplate: {spec: {volumes: [{name: pulumi-work, emptyDir: {sizeLimit: 2Gi}}]}}}}`,
		"a disk of its own": `{spec: {podTemplate: {spec: {volumes: [{name: pulumi-work, emptyDir: null,
			ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 9Gi}}}}}}]}}}}`,
		"a profile":                              `{spec: {securityProfile: restricted}}`,
		"scheduling":                             `{spec: {podTemplate: {spec: {tolerations: [{operator: Exists}], priorityClassName: low, runtimeClassName: gvisor}}}}`,
		"where Pulumi is":                        `{spec: {env: [{name: PATH, value: "/opt/pulumi:/bin"}]}}`,
		"where the API server is":                `{spec: {env: [{name: KUBERNETES_SERVICE_HOST, value: api.example.com}]}}`,
		"a ConfigMap":                            `{spec: {envFrom: [{configMapRef: {name: x}}]}}`,
		"a scratch volume in the work directory": mounting("emptyDir: {}", "/pulumi-work/x", false),
		"a read-only volume there":               mounting("persistentVolumeClaim: {claimName: x}", "/pulumi-work/x", true),
		"a ConfigMap volume there":               mounting("configMap: {name: x}", "/pulumi-work/x", false),
		"a volume beside the work directory":     mounting("persistentVolumeClaim: {claimName: x}", "/pulumi-works", false),
		"its own mounts":                         `{spec: {podTemplate: {spec: {volumes: [{name: x, configMap: {name: x}}], containers: [{name: pulumi, volumeMounts: [{name: x, mountPath: /etc/x}]}]}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(check(settings(), withTemplate(template))).To(Succeed())
		})
	}
}

func TestATemplateChoosesTheNodes(t *testing.T) {
	for name, test := range map[string]struct {
		selector string
		want     map[string]string
	}{
		"none":            {`{}`, map[string]string{"kubernetes.io/os": "linux"}},
		"another label":   {`{pool: builds}`, map[string]string{"kubernetes.io/os": "linux", "pool": "builds"}},
		"another value":   {`{kubernetes.io/os: other}`, map[string]string{"kubernetes.io/os": "other"}},
		"without the one": {`{kubernetes.io/os: null}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			built, err := build(settings(), withTemplate(`{spec: {podTemplate: {spec: {nodeSelector: `+test.selector+`}}}}`))
			g.Expect(err).NotTo(HaveOccurred())
			if test.want == nil {
				g.Expect(built.job.Spec.Template.Spec.NodeSelector).To(BeEmpty())
				return
			}
			g.Expect(built.job.Spec.Template.Spec.NodeSelector).To(Equal(test.want))
		})
	}
}

func TestTheLabelsOfTheControllerStayOnTheJob(t *testing.T) {
	g := NewWithT(t)
	bare, err := build(settings(), aRun())
	g.Expect(err).NotTo(HaveOccurred())
	built, err := build(settings(), withTemplate(`{metadata: {name: x, namespace: y, ownerReferences: [{name: z}],
  labels: {queue: q, pulumi.com/run: x, app.kubernetes.io/managed-by: Helm}, annotations: {note: said, pulumi.com/stack: x, batch.kubernetes.io/x: z}}}`))
	g.Expect(err).NotTo(HaveOccurred())
	want := bare.job.ObjectMeta.DeepCopy()
	want.Labels["queue"], want.Annotations["note"] = "q", "said"
	g.Expect(built.job.ObjectMeta).To(Equal(*want))
	g.Expect(built.secret.ObjectMeta).To(Equal(bare.secret.ObjectMeta))
}

func TestTheLabelsOfTheControllerStayOnThePod(t *testing.T) {
	g := NewWithT(t)
	bare, err := build(settings(), aRun())
	g.Expect(err).NotTo(HaveOccurred())
	for name, template := range map[string]string{
		"reserved keys set": `{spec: {podTemplate: {metadata: {labels: {team: a, pulumi.com/run: x, app.kubernetes.io/managed-by: Helm}, annotations: {note: said, pulumi.com/stack: x}}}}}`,
		"replaced":          `{spec: {podTemplate: {metadata: {labels: {$patch: replace, team: a}, annotations: {$patch: replace, note: said}}}}}`,
		"removed":           `{spec: {podTemplate: {metadata: {labels: {team: a, pulumi.com/run: null}, annotations: {note: said}}}}}`,
	} {
		built, err := build(settings(), withTemplate(template))
		g.Expect(err).NotTo(HaveOccurred(), name)
		want := bare.job.Spec.Template.ObjectMeta.DeepCopy()
		metav1.SetMetaDataLabel(want, "team", "a")
		metav1.SetMetaDataAnnotation(want, "note", "said")
		g.Expect(built.job.Spec.Template.ObjectMeta).To(Equal(*want), name)
	}
}

// inputOf returns what the pod has to do, and the digest of it in the arguments of the pod.
func inputOf(g *WithT, built *objects) (input exchange.Input, digest string) {
	for _, arg := range containerOf(built.job.Spec.Template.Spec.Containers, mainContainer).Args {
		if value, ok := strings.CutPrefix(arg, "--run-digest="); ok {
			digest = value
		}
	}
	input, err := exchange.DecodeInput(built.secret.Data[exchange.RunKey], digest)
	g.Expect(err).NotTo(HaveOccurred())
	return input, digest
}

func TestTheAdministratorSetsThePodSecurityLevel(t *testing.T) {
	g := NewWithT(t)
	hostPath := withTemplate(`{spec: {podTemplate: {spec: {volumes: [{name: x, hostPath: {path: /x}}]}}}}`)
	root := withTemplate(`{spec: {podTemplate: {spec: {securityContext: {runAsNonRoot: false, runAsUser: 0}}}}}`)
	s := settings()
	g.Expect(check(s, root)).NotTo(Succeed())
	s.PodSecurity = psaapi.LevelBaseline
	g.Expect(check(s, root)).To(Succeed())
	g.Expect(check(s, hostPath)).NotTo(Succeed())
	s.PodSecurity = psaapi.LevelPrivileged
	g.Expect(check(s, hostPath)).To(Succeed())
}

func TestTheServiceAccountOfTheStackIsUsed(t *testing.T) {
	g := NewWithT(t)
	r := withTemplate(`{spec: {serviceAccountName: deployer}}`)
	r.Account = run.ServiceAccount{Namespace: r.Namespace, Name: "deployer"}
	built, err := build(settings(), r)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(built.account).To(BeNil(), "it is there, or is not")
	g.Expect(built.job.Spec.Template.Spec.ServiceAccountName).To(Equal("deployer"))
	g.Expect(built.binding.Subjects[0].Name).To(Equal("deployer"))

	withKubeconfig := withTemplate(`{spec: {serviceAccountName: deployer}}`)
	withKubeconfig.Env = map[string]string{"KUBECONFIG": "/x"}
	built, err = build(settings(), withKubeconfig)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(built.account).To(BeNil())
	g.Expect(built.job.Spec.Template.Spec.ServiceAccountName).To(Equal("deployer"), "that of the pod alone")
	g.Expect(built.binding.Subjects[0].Name).To(Equal("deployer"))

	ofTheTemplate := withTemplate(`{spec: {env: [{name: KUBECONFIG, value: /mnt/kubeconfig}]}}`)
	ofTheTemplate.Account = r.Account
	built, err = build(settings(), ofTheTemplate)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(built.job.Spec.Template.Spec.ServiceAccountName).To(Equal("deployer"), "that of the pod alone")
	input, _ := inputOf(g, built)
	g.Expect(input.Run.Account).To(BeZero())

	built, err = build(settings(), aRun())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(built.account.Name).To(Equal(Name(aRun().ID)))
	g.Expect(built.job.Spec.Template.Spec.ServiceAccountName).To(Equal(built.account.Name))
	r.Account.Name = "another"
	g.Expect(check(settings(), r)).To(MatchError(ContainSubstring("serviceAccountName differs")))
}

func TestABackendInThePodIsRefused(t *testing.T) {
	volumes := `{spec: {podTemplate: {spec: {
  volumes: [{name: state, persistentVolumeClaim: {claimName: state}}, {name: scratch, emptyDir: {}}, {name: inline, csi: {driver: example.com}}],
  containers: [{name: pulumi, volumeMounts: [{name: state, mountPath: /state}, {name: scratch, mountPath: /scratch},
    {name: scratch, mountPath: /state/gone}, {name: state, mountPath: /state/gone/stays}, {name: scratch, mountPath: /state/hidden/.pulumi},
    {name: state, mountPath: /named, subPathExpr: $(POD_NAME)}, {name: inline, mountPath: /inline}]}]}}}}`
	for backend, ok := range map[string]bool{
		"s3://state": true, "https://api.pulumi.com": true, "file:///state": true, "file:///state/a/b?x=y": true,
		"file:///scratch": false, "file:///stately": false, "file:///pulumi-work": false, "file:///tmp": false, "file://~": false,
		"file:///state/gone": false, "file:///state/gone/a": false, "file:///state/gone/stays": true, "file:///state/hidden": false,
		"file:///named": false, "file:///inline": false,
	} {
		r := withTemplate(volumes)
		r.Backend = backend
		err := check(settings(), r)
		NewWithT(t).Expect(err == nil).To(Equal(ok), "%s: %v", backend, err)
	}
}

func TestARunTooLargeForASecretIsRefused(t *testing.T) {
	g := NewWithT(t)
	r := aRun()
	r.Program.YAML = make([]byte, 2<<20)
	source := rand.NewChaCha8([32]byte{})
	_, err := source.Read(r.Program.YAML)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = build(settings(), r)
	g.Expect(err).To(MatchError(exchange.ErrTooLarge))
	g.Expect(check(settings(), r)).To(MatchError(exchange.ErrTooLarge), "before it takes a slot from others")
}

func TestTheDigestRevealsNoSecrets(t *testing.T) {
	g := NewWithT(t)
	args := func(s Settings) []string {
		built, err := build(s, aRun())
		g.Expect(err).NotTo(HaveOccurred())
		return containerOf(built.job.Spec.Template.Spec.Containers, mainContainer).Args
	}
	one, another := New(Options{Settings: settings(), Concurrent: 1}), New(Options{Settings: settings(), Concurrent: 1})
	g.Expect(args(one.options.Settings)).To(Equal(args(one.options.Settings)), "a retry builds the same")
	g.Expect(args(one.options.Settings)).NotTo(Equal(args(another.options.Settings)), "the digest cannot be computed from the run alone")
}
