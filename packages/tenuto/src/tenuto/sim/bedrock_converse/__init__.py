"""Amazon Bedrock Converse."""
