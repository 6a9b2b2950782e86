{{- define "gvDetails" -}}
{{- $gv := . -}}
What the fields mean together, with examples, is told in [the specification](../../spec/v1/README.md). This is the list of all of them.

Kinds of `{{ $gv.GroupVersionString }}`:
{{ range $gv.SortedKinds }}
- {{ $gv.TypeForKind . | markdownRenderTypeLink }}
{{- end }}
{{ range $gv.SortedTypes }}
{{- template "type" . }}
{{- end }}
{{- end -}}
