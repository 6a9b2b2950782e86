// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func TestADirectoryThatGoesWithThePodIsNoBackend(t *testing.T) {
	g := NewWithT(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	claimed, link := filepath.Join(dir, "claimed"), filepath.Join(dir, "link")
	g.Expect(os.Mkdir(claimed, 0o700)).To(Succeed())
	g.Expect(os.Symlink(claimed, link)).To(Succeed())
	pod := &corev1.Pod{}
	g.Expect(yaml.UnmarshalStrict([]byte(`{spec: {
  volumes: [{name: data, emptyDir: {}}, {name: claim, persistentVolumeClaim: {claimName: a}}, {name: node, hostPath: {path: /srv}},
    {name: new, ephemeral: {}}, {name: inline, csi: {driver: example.com}}],
  containers: [{name: proxy}, {name: manager, volumeMounts: [{name: data, mountPath: /data}, {name: claim, mountPath: /data/claim}, {name: node, mountPath: /node/},
    {name: new, mountPath: /new}, {name: inline, mountPath: /inline}, {name: claim, mountPath: `+claimed+`}]}]}}`), pod)).To(Succeed())
	check := backendCheck(pod)
	for backend, ok := range map[string]bool{
		"file:///data": false, "file:///data/state?no_tmp_dir=true": false, "file:///data/claim": true, "file:///data/claim/a": true,
		"file:///node/a": true, "file:///new": false, "file:///inline": true, "file:///": false, "file:///home": false,
		"file://" + link + "/absent": true, "s3://data": true, "https://api.pulumi.com": true,
	} {
		g.Expect(check(backend) == nil).To(Equal(ok), backend)
	}
	g.Expect(backendCheck(&corev1.Pod{})).To(BeNil(), "a process of a host")
	g.Expect(check("file:///data/canary")).NotTo(MatchError(ContainSubstring("canary")))
}
