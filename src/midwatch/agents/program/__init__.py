"""Any other program, judged by its own reports (OSC 7501) or as a job."""
