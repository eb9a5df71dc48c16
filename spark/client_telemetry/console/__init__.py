"""What commands share: options, progress, output files."""
