{{- define "type" -}}
{{- $type := . -}}
{{- if markdownShouldRenderType $type }}

## {{ $type.Name }}

{{ $type.Doc | replace "<" "&lt;" | trim }}
{{- if $type.IsAlias }}

It is a {{ markdownRenderTypeLink $type.UnderlyingType }}.
{{- end }}
{{- if $type.References }}

Appears in:
{{- range $index, $reference := $type.SortedReferences }}{{ if $index }},{{ end }} {{ markdownRenderTypeLink $reference }}{{ end }}.
{{- end }}
{{- if $type.Members }}

| field | type | meaning |
|---|---|---|
{{- if $type.GVK }}
| `apiVersion` | string | `{{ $type.GVK.Group }}/{{ $type.GVK.Version }}` |
| `kind` | string | `{{ $type.GVK.Kind }}` |
{{- end }}
{{- range $type.Members }}
| `{{ .Name }}` | {{ markdownRenderType .Type }} | {{ template "type_members" . }} |
{{- end }}
{{- end }}
{{- if $type.EnumValues }}

| value | meaning |
|---|---|
{{- range $type.EnumValues }}
| `{{ .Name }}` | {{ .Doc | replace "<" "&lt;" | markdownRenderFieldDoc | replace "<br />" " " }} |
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
