{{- define "joust.labels" -}}
app.kubernetes.io/name: joust
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Whether the store is PostgreSQL, which several nodes share. */}}
{{- define "joust.shared" -}}
{{- if hasPrefix "postgres" (dig "store" "url" "" .Values.config) }}yes{{ end }}
{{- end }}
