// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// platform is a template of an administrator.
const platform = `
metadata:
  labels: {kueue.x-k8s.io/queue-name: runs, team: platform}
spec:
  serviceAccountName: runs
  image: registry.example.com/pulumi:1
  env:
    - {name: SSL_CERT_FILE, value: /etc/certificates/ca.crt}
    - {name: HTTPS_PROXY, value: http://proxy.example.com}
  envFrom: [{configMapRef: {name: platform}}]
  resources: {requests: {cpu: 200m, memory: 512Mi}, limits: {memory: 1Gi}}
  podTemplate:
    spec:
      imagePullSecrets: [{name: registry}]
      nodeSelector: {pool: runs}
      volumes:
        - {name: certificates, configMap: {name: certificates}}
        - {name: plugins, persistentVolumeClaim: {claimName: plugins, readOnly: true}}
      containers:
        - name: pulumi
          volumeMounts:
            - {name: certificates, mountPath: /etc/certificates}
            - {name: plugins, mountPath: /pulumi-plugins, readOnly: true}
`

func withDefaults(t *testing.T, text string) Settings {
	t.Helper()
	s := settings()
	defaults, err := ReadDefaults([]byte(text), s)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	s.Defaults = defaults
	return s
}

func TestDefaultsAreBeneathTheTemplateOfAStack(t *testing.T) {
	g := NewWithT(t)
	s := withDefaults(t, platform)
	plain, err := build(s, aRun())
	g.Expect(err).NotTo(HaveOccurred())
	pod, main := plain.job.Spec.Template.Spec, *mainOf(&plain.job.Spec.Template.Spec)
	g.Expect(plain.job.Labels).To(HaveKeyWithValue("kueue.x-k8s.io/queue-name", "runs"))
	g.Expect(pod.ServiceAccountName).To(Equal("runs"))
	g.Expect(main.Image).To(Equal("registry.example.com/pulumi:1"))
	g.Expect(main.Env).To(ContainElements(HaveField("Name", "SSL_CERT_FILE"), HaveField("Name", "HTTPS_PROXY")))
	g.Expect(main.Resources).To(Equal(corev1.ResourceRequirements{
		Requests: corev1.ResourceList{"cpu": resource.MustParse("200m"), "memory": resource.MustParse("512Mi")},
		Limits:   corev1.ResourceList{"memory": resource.MustParse("1Gi")},
	}))
	g.Expect(pod.ImagePullSecrets).To(ConsistOf(HaveField("Name", "registry")))
	g.Expect(pod.NodeSelector).To(Equal(map[string]string{"kubernetes.io/os": "linux", "pool": "runs"}))
	g.Expect(main.VolumeMounts).To(ContainElements(HaveField("MountPath", "/etc/certificates"), HaveField("MountPath", "/pulumi-plugins")))

	own := withTemplate(`
metadata: {labels: {team: a}}
spec:
  image: own:1
  env: [{name: HTTPS_PROXY, value: ""}]
  envFrom: [{configMapRef: {name: own}}]
  resources: {limits: {memory: 300Mi}}
  podTemplate:
    spec:
      imagePullSecrets: [{name: own}]
      nodeSelector: {pool: own}
      volumes: [{name: plugins, $patch: delete}]
      containers: [{name: pulumi, volumeMounts: [{mountPath: /pulumi-plugins, $patch: delete}]}]
`)
	own.Account = run.ServiceAccount{Name: "deployer"}
	built, err := build(s, own)
	g.Expect(err).NotTo(HaveOccurred())
	pod, main = built.job.Spec.Template.Spec, *mainOf(&built.job.Spec.Template.Spec)
	g.Expect(built.job.Labels).To(And(HaveKeyWithValue("kueue.x-k8s.io/queue-name", "runs"), HaveKeyWithValue("team", "a")))
	g.Expect(pod.ServiceAccountName).To(Equal("deployer"))
	g.Expect(main.Image).To(Equal("own:1"))
	g.Expect(main.Env).To(ContainElement(corev1.EnvVar{Name: "HTTPS_PROXY"}))
	g.Expect(main.Env).NotTo(ContainElement(HaveField("Value", "http://proxy.example.com")))
	g.Expect(main.EnvFrom).To(HaveExactElements(HaveField("ConfigMapRef.Name", "platform"), HaveField("ConfigMapRef.Name", "own")), "the last one counts")
	g.Expect(main.Resources).To(Equal(corev1.ResourceRequirements{
		Requests: corev1.ResourceList{"cpu": resource.MustParse("200m")}, Limits: corev1.ResourceList{"memory": resource.MustParse("300Mi")},
	}), "the default request of memory exceeds the limit of the Stack")
	g.Expect(pod.ImagePullSecrets).To(ConsistOf(HaveField("Name", "registry"), HaveField("Name", "own")))
	g.Expect(pod.NodeSelector).To(HaveKeyWithValue("pool", "own"))
	g.Expect(pod.Volumes).NotTo(ContainElement(HaveField("Name", "plugins")))
}

func TestTheStackHasTheLastWordWhereverADefaultIs(t *testing.T) {
	const patch = `{spec: {podTemplate: {spec: {resources: {limits: {cpu: 2}}, containers: [{name: pulumi, image: default:1, imagePullPolicy: Always,
  env: [{name: A, value: default}, {name: B, value: default}], envFrom: [{configMapRef: {name: default}}], resources: {limits: {memory: 1Gi}}}]}}}}`
	requests := corev1.ResourceRequirements{Requests: corev1.ResourceList{"memory": resource.MustParse("2Gi")}}
	own := []corev1.EnvVar{{Name: "B", Value: "default"}, {Name: "A", Value: "own"}}
	for name, test := range map[string]struct {
		template string
		check    func(g Gomega, pod corev1.PodSpec, main corev1.Container)
	}{
		"nothing is said": {`{}`, func(g Gomega, pod corev1.PodSpec, main corev1.Container) {
			g.Expect(main.Image).To(Equal("default:1"))
			g.Expect(main.Resources.Limits).To(HaveKeyWithValue(corev1.ResourceMemory, resource.MustParse("1Gi")))
			g.Expect(pod.Resources.Limits).To(HaveKeyWithValue(corev1.ResourceCPU, resource.MustParse("2")))
		}},
		"an image": {`{spec: {image: own:1, imagePullPolicy: Never}}`, func(g Gomega, _ corev1.PodSpec, main corev1.Container) {
			g.Expect(main).To(And(HaveField("Image", "own:1"), HaveField("ImagePullPolicy", corev1.PullNever)))
		}},
		"a variable": {`{spec: {env: [{name: A, value: own}]}}`, func(g Gomega, _ corev1.PodSpec, main corev1.Container) {
			g.Expect(main.Env).To(ContainElements(own))
			g.Expect(main.Env).NotTo(ContainElement(corev1.EnvVar{Name: "A", Value: "default"}))
		}},
		"variables of a ConfigMap": {`{spec: {envFrom: [{configMapRef: {name: own}}]}}`, func(g Gomega, _ corev1.PodSpec, main corev1.Container) {
			g.Expect(main.EnvFrom).To(HaveExactElements(HaveField("ConfigMapRef.Name", "default"), HaveField("ConfigMapRef.Name", "own")))
		}},
		"requests": {`{spec: {resources: {requests: {memory: 2Gi}}}}`, func(g Gomega, _ corev1.PodSpec, main corev1.Container) {
			g.Expect(main.Resources).To(Equal(requests), "the default limit is less")
		}},
		"requests in its patch": {`{spec: {podTemplate: {spec: {containers: [{name: pulumi, resources: {requests: {memory: 2Gi}}}]}}}}`,
			func(g Gomega, _ corev1.PodSpec, main corev1.Container) { g.Expect(main.Resources).To(Equal(requests)) }},
		"limits of the whole pod": {`{spec: {podTemplate: {spec: {resources: {limits: {memory: 200Mi}}}}}}`, func(g Gomega, pod corev1.PodSpec, main corev1.Container) {
			g.Expect(main.Resources).To(BeZero(), "the default limit is more")
			g.Expect(pod.Resources.Limits).To(HaveLen(2))
		}},
		"requests of more CPU": {`{spec: {resources: {requests: {cpu: 4}}}}`, func(g Gomega, pod corev1.PodSpec, main corev1.Container) {
			g.Expect(pod.Resources).To(BeNil(), "the default limit of the whole pod is less")
			g.Expect(main.Resources.Limits).To(HaveKey(corev1.ResourceMemory))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			built, err := build(withDefaults(t, patch), withTemplate(test.template))
			g.Expect(err).NotTo(HaveOccurred())
			pod := built.job.Spec.Template.Spec
			test.check(g, pod, *mainOf(&pod))
		})
	}
}

func TestADefaultVolumeServesAsBackend(t *testing.T) {
	g := NewWithT(t)
	s := withDefaults(t, `{spec: {podTemplate: {spec: {volumes: [{name: state, persistentVolumeClaim: {claimName: state}}],
  containers: [{name: pulumi, volumeMounts: [{name: state, mountPath: /state}]}]}}}}`)
	r := aRun()
	r.Backend = "file:///state"
	g.Expect(check(s, r)).To(Succeed())
	g.Expect(check(settings(), r)).NotTo(Succeed())
}

func TestDefaultsAreRefusedAtTheStart(t *testing.T) {
	for text, want := range map[string]string{
		"spec: {image: 1":                                  "it is not valid YAML",
		"{spec: {image: a:1}, spec: {image: b:1}}":         "already set in map",
		"kind: Pod":                                        "kind is not known: remove it",
		"[]":                                               "is not an object: remove it",
		"spec: {git: {}}":                                  "spec.git is a source: use ",
		"spec: {}\n---\nspec: {image: a:1}":                "has several YAML documents",
		"spec: {imagePullPolicy: Sometimes}":               `spec.imagePullPolicy cannot be "Sometimes": use Always, IfNotPresent or Never`,
		"spec: {resources: {limit: {}}}":                   `unknown field "limit"`,
		"spec: {env: [{name: HOME, value: /x}]}":           "spec.env is refused: the environment variable HOME cannot be set",
		"spec: {podTemplate: {spec: {hostNetwork: true}}}": "spec.podTemplate changes spec.hostNetwork",
		"spec: {podTemplate: {spec: {volumes: [{name: x, hostPath: {path: /}}]}}}":                `spec.podTemplate is not allowed by the Pod Security Standard "restricted"`,
		"spec: {env: [" + strings.TrimSuffix(strings.Repeat("{name: A},", maxList+1), ",") + "]}": "has a list of 251 items",
	} {
		_, err := ReadDefaults([]byte(text), settings())
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)), text)
		NewWithT(t).Expect(err.Error()).NotTo(ContainSubstring("workspaceTemplate"))
	}
	for _, text := range []string{"", "# nothing\n", "---\nspec:\n---\n"} {
		defaults, err := ReadDefaults([]byte(text), settings())
		NewWithT(t).Expect(err).NotTo(HaveOccurred(), text)
		NewWithT(t).Expect(defaults.areGiven()).To(BeFalse(), text)
	}
}

func TestDefaultRequests(t *testing.T) {
	own := corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("256Mi")}
	for name, tc := range map[string]struct {
		template string
		// namespace is what a LimitRange adds, and refused says that a quota refuses a pod
		// without requests.
		namespace corev1.ResourceList
		refused   bool
		want      corev1.ResourceList
	}{
		"nobody says anything":      {want: own},
		"the whole pod has a limit": {template: `{spec: {podTemplate: {spec: {resources: {limits: {memory: 100Mi}}}}}}`, want: corev1.ResourceList{"cpu": own["cpu"]}},
		"the Stack has a limit":     {template: `{spec: {resources: {limits: {memory: 100Mi}}}}`, want: corev1.ResourceList{"cpu": own["cpu"]}},
		"the namespace has its own": {namespace: corev1.ResourceList{"memory": resource.MustParse("64Mi")}, want: corev1.ResourceList{"cpu": own["cpu"]}},
		"a quota wants them":        {refused: true, want: own},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			if tc.template != "" {
				s.runs[s.key].todo.Workspace = withTemplate(tc.template).Workspace
			}
			s.api.admits = func(pod *corev1.Pod) error {
				main := mainOf(&pod.Spec)
				if tc.refused && len(main.Resources.Requests) == 0 {
					return apierrors.NewForbidden(corev1.Resource("pods"), pod.Name, errors.New("failed quota: small: must specify requests.memory"))
				}
				addResources(&main.Resources, namedResources(&pod.Spec), corev1.ResourceRequirements{Requests: tc.namespace})
				return nil
			}
			s.step()
			s.Expect(mainOf(&s.job().Spec.Template.Spec).Resources.Requests).To(Equal(tc.want))
		})
	}
}
