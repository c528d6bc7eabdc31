"""Ways for an agent to live outside of this process: a child over JSON-RPC, and kc as an MCP server."""
