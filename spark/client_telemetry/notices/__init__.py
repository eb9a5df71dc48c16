"""Who is told what, once: owners when something changed for them or a day comes near, operators when data or a fix is lost."""
