"""Amazon Bedrock Converse, as the simulator speaks it."""
