"""The command line: the only place that knows Click, streams, colour and exit codes."""
